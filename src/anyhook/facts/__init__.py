"""Facts: what a tool call would do, in words that mean the same in every agent."""
