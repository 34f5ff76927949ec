"""The journal in the terminal, as it grows."""
