"""The test kit: hooks fired at a temporary copy of a project, and the results compared with what was expected.
Importing this package loads none of it."""

from __future__ import annotations

ENDINGS = ("hooktest.yaml", "hooktest.yml")
"""How the name of a case file ends."""


def is_case_file(name: str) -> bool:
    return name in ENDINGS or name.endswith(tuple(f".{ending}" for ending in ENDINGS))
