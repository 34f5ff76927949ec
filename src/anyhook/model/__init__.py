"""The types that pass between the steps."""
