"""The agent whose loop fires every event. Nothing here is imported unless the agent runs."""
