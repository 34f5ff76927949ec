"""The rule language: conditions about facts, parsed and checked when a file is loaded, evaluated in this process."""
