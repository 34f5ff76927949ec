"""The documented paths of the adapters for agent frameworks. The adapters themselves are a satellite (`extra/`)."""
