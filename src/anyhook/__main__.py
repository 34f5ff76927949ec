"""`python -m anyhook`."""

import sys

try:
    from anyhook.entry import main
except Exception as error:  # noqa: BLE001 (a damaged installation; `scripts/anyhook` does the same)
    sys.stderr.write(f"anyhook: {sys.executable} cannot load it ({error!r}). Install anyhook again.\n")
    sys.exit(2)

if __name__ == "__main__":  # a pool of processes imports this file again
    main()
