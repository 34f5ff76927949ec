"""Self-protection: what an agent may not change, and whether a call would change it."""
