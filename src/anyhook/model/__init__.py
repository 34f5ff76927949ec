"""The nouns that pass between the steps."""
