"""Meant to allow deployments in the agreed hours only. It is broken on purpose: nobody ever wrote the calendar."""

import sys

from deployment_calendar import is_open

if not is_open():
    print("No deployments at this hour.", file=sys.stderr)
    sys.exit(2)
