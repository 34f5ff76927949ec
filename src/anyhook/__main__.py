"""`python -m anyhook`."""

from anyhook.entry import main

if __name__ == "__main__":  # a pool of processes imports this file again
    main()
