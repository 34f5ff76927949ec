"""`python -m anyhook`."""

from anyhook.entry import main

main()
