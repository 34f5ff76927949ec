"""Conformance: data that describes how the command behaves, and the runner that tests it. Nothing here imports the
engine."""
