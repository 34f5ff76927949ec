"""Output for people. Only render.py prints."""
