"""Views of the journal that stay open: one in the terminal, one in a browser."""
