"""Reads the corpora. A line is a command; a line that begins with `|` goes on with the one before it. Three in ten,
chosen by the hash of the command, are kept aside: rules are not tuned to them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
KINDS = ("destructive", "harmless")
MAX_KEPT_ASIDE = 77  # of 256: three in ten


class Command(NamedTuple):
    kind: str
    category: str
    text: str

    @property
    def kept_aside(self) -> bool:
        return hashlib.sha256(self.text.encode()).digest()[0] < MAX_KEPT_ASIDE


def commands(kind: str) -> Iterator[Command]:
    """All commands of one kind, category by category."""
    for path in sorted((HERE / kind).glob("*.txt")):
        lines: list[str] = []
        for line in path.read_text().splitlines():
            if line.startswith("|"):
                lines.append(line[2:])
                continue
            if lines:
                yield Command(kind, path.stem, "\n".join(lines))
            lines = [line]
        yield Command(kind, path.stem, "\n".join(lines))
