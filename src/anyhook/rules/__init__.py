"""The rule language: conditions over facts, parsed and checked when a file is loaded, asked in this process."""
