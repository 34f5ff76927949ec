"""Many machines: a directory into which `anyhook ship` puts files. Each machine has a folder with a journal in it.
Everything that reads a journal reads such a directory too, merged by time."""

from __future__ import annotations

import os

from anyhook.platform.places import allow_many_files

MACHINE = "machine-"
MANY_JOURNALS = 100
NUMBER_STEP = 10**9
"""Each machine counts its records from 1. Where those of many are shown, the second one's begin after this many."""


def journals_of(folder: str) -> list[str]:
    """The journals of a directory of machines; of any other folder, the folder itself."""
    found = machines_in(folder) or [folder]
    if len(found) > MANY_JOURNALS:
        allow_many_files()
    return found


def machines_in(folder: str) -> list[str]:
    """The folders of machines; none for a journal."""
    try:
        names = os.listdir(folder)
    except OSError:
        return []
    found = [f"{folder}/{name}" for name in sorted(names) if name.startswith(MACHINE)]
    return [path for path in found if os.path.isdir(path)]


def name_of(journal: str) -> str:
    """The machine whose folder this is; "" for any other."""
    name = os.path.basename(journal)
    return name.removeprefix(MACHINE) if name.startswith(MACHINE) else ""
