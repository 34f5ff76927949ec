"""Starting, feeding, waiting for and killing processes. No other package starts a process."""
