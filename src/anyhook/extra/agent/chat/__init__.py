"""The interactive side of the agent: what a person types and sees. The agent itself is in `anyhook.extra.agent`."""
