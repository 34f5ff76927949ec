"""One verb per file. Only render.py prints."""
