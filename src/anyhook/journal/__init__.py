"""Reading the journal: its files, what to look for, figures, proof, judging again. Nothing here writes a record."""
