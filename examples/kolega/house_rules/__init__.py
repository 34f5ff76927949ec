"""Rules of this project, for its hooks."""
