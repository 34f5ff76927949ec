"""Facts: what a tool call would do, the same for every agent."""
