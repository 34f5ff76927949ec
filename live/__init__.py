"""`make live`: real agents through the same trials, and what was seen. Nothing here is part of the package."""
