"""The journal live in the terminal."""
