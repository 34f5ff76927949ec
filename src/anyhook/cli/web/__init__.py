"""The journal as a local page."""
