"""Convert hooks from one dialect to another, and prove that they decide the same."""
