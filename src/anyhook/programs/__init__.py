"""Reading command lines: their words, the programs they start and the files they name."""
