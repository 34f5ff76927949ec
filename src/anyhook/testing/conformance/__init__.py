"""Conformance: data that says how the command behaves, and the runner that asks it. Nothing here imports the engine."""
