"""Approvals in a file, for CI: what a person has approved is written into a file of the repository, and a job approves
exactly that, from the file as the base branch has it. What a pull request changes is not approved."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence

from anyhook import __version__
from anyhook.cli import BadCall
from anyhook.cli.view.text import visible
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.gates.review import APPROVED, REMOVED, Reviewed
from anyhook.model.record import Record

FORMAT_VERSION = 1


def digest_of(entry: Reviewed, project: str) -> str:
    """What is approved, as one hash: the declaration, and the bytes of every file by its place in the project."""
    files = {os.path.relpath(path, project): digest for path, digest in entry.item.files.items()}
    return hashlib.sha256(
        json.dumps([entry.item.id, entry.item.definition, files], sort_keys=True).encode()
    ).hexdigest()


def write_approvals(path: str, entries: Sequence[Reviewed], project: str) -> int:
    """Write what is approved; returns how many."""
    approved = {entry.item.id: digest_of(entry, project) for entry in entries if entry.status == APPROVED}
    text = json.dumps(
        {"version": FORMAT_VERSION, "anyhook": __version__, "approved": approved}, indent=1, sort_keys=True
    )
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"{text}\n")
    except OSError as error:
        raise BadCall(f"--export {path}: the file cannot be written ({error.strerror}).") from None
    return len(approved)


class Pinned(Record):
    """What a file approves."""

    approved: dict[str, str]
    """Id → hash."""
    written_by: str
    """The version of anyhook that wrote it."""


def read_approvals(path: str) -> Pinned:
    try:
        found = json.loads(read_bytes(path))
    except (OSError, Unreadable, ValueError, RecursionError) as error:
        raise BadCall(f"--from {path}: the file cannot be read ({error}).") from None
    approved = found.get("approved") if isinstance(found, dict) and found.get("version") == FORMAT_VERSION else None
    if not isinstance(approved, dict):
        raise BadCall(f"--from {path}: `anyhook trust --export` did not write this file.")
    return Pinned({key: str(value) for key, value in approved.items()}, str(found.get("anyhook", "")))


def another_version(pinned: Pinned) -> str:
    """What to do if the file is from another version, whose own packs may have other rules; "" if it is not."""
    if pinned.written_by == __version__:
        return ""
    return (
        f"The file is from anyhook {visible(pinned.written_by) or '(not named)'}, and this is {__version__}, whose own"
        " packs may have other rules. Use that version here, or approve with this one and write the file again:"
        " anyhook trust, anyhook trust --export FILE"
    )


def sorted_by(pinned: dict[str, str], entries: Sequence[Reviewed], project: str) -> tuple[list[str], list[str]]:
    """The ids that the file approves as they are now, and a sentence for each that it does not."""
    there = {entry.item.id: entry for entry in entries if entry.status != REMOVED}
    approved, why = list[str](), list[str]()
    for key, entry in there.items():
        if key not in pinned:
            why.append(f"{key} is not in the file")
        elif pinned[key] != digest_of(entry, project):
            why.append(f"{key} is not what the file approves")
        elif entry.item.unpinned:
            why.append(f"{key} also runs {entry.item.unpinned[0]}, which cannot be pinned")
        else:
            approved.append(key)
    why += [f"{key} is in the file, and the project does not declare it any more" for key in pinned if key not in there]
    return approved, why
