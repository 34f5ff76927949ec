"""Hooks in the loops of agent frameworks: one module per framework, each importing its own framework and no other."""
