"""The nouns that pass between the steps; no module here does I/O."""
