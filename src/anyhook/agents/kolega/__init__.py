"""Kolega Code: `hooks.json` of a state directory and a project, read by the product and by us; nothing is installed
there, so nothing is driven either."""

from __future__ import annotations

VERSION = "0.45.1"
