"""One file per dialect: tables, and the few functions that stand in their cells."""
