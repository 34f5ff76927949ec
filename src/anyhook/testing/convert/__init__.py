"""Hooks of one dialect written in another, with a proof that they decide the same."""
