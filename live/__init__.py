"""`make live`: real agents go through the same trials, and what was seen is recorded. Not part of the package."""
