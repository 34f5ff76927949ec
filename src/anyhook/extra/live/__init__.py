"""Real agents, driven without a network against a scripted model. Nothing here is on a path that an agent waits on."""
