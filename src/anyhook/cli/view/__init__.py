"""What a person sees. Only render.py prints."""
