"""One verb per file; render.py alone prints."""
