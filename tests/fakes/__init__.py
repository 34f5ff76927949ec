"""Stand-ins for what a test cannot have: providers of models. They reach nothing beyond the loopback."""
