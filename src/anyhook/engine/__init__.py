"""The walk of one event, one verb per file, and the engine that starts it."""
