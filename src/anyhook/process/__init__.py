"""Starting, feeding, waiting for and ending processes. The only room that starts anything."""
