"""The only writers of anyhook's own files."""
