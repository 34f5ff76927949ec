"""The trust ledger: which hooks of which projects their user has approved, by content. It is outside every project, for
its owner only, and nothing in a project can write to it."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from anyhook.documents.files import UNPINNED
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.platform.locks import locked
from anyhook.platform.places import APPROVALS_FILE, NO_LINK, NO_WAIT, open_regular, user_id, write_private
from anyhook.state.repository import Place, place_of

NOT_HOOKS = ("cases:", "mcp:", "subagent:", "skill:")
"""Prefixes of the ids of approved things that are not hooks."""
MAX_SIZE = 64 * 1024 * 1024


class Item(Record):
    """One thing to approve: a hook, a project's list that switches the user's hooks off, or a case file."""

    id: str
    definition: str
    files: dict[str, str]
    """Absolute path → SHA-256 of the bytes; "" if there was no file."""
    here: bool = False
    """Whether it was approved for this folder alone, and not for other checkouts of its repository."""
    unpinned: tuple[str, ...] = ()
    """What it runs as well and is not pinned. Read from the disk each time, and not stored."""
    afar: bool = False
    """Whether it was approved in another clone, which only the name of its remote connects with this folder. Then it
    counts if everything that it runs is pinned: that is the same, byte for byte, and the rest need not be."""

    @property
    def pinnable(self) -> bool:
        return not any(digest.startswith(UNPINNED) for digest in self.files.values())

    def same_as(self, other: Item) -> bool:
        same = self.definition == other.definition and self.files == other.files and self.pinnable
        return same and not (self.afar and other.unpinned)


class Approval(Record):
    """What was approved for one project, and when."""

    project: str
    when: str
    items: dict[str, Item]
    place: Place | None = None
    """Where the project was in its repository; None outside one, and in approvals of earlier versions."""


class Ledger:
    """The file with all approvals, read once. Every change starts from what is in the file at that time."""

    def __init__(self, state_dir: str) -> None:
        self.folder = state_dir
        self.path = f"{state_dir}/{APPROVALS_FILE}"
        self.copies = f"{state_dir}/approved"
        self.problems: list[Problem] = []
        self._declined: dict[str, str] = {}
        """Project → digest of what its user was shown and did not approve."""
        self.approvals: dict[str, Approval] = self._read()
        self._places: dict[str, Place | None] = {}

    def _read(self) -> dict[str, Approval]:
        self.problems, self._declined = [], {}
        try:
            descriptor = os.open(self.path, os.O_RDONLY | NO_LINK | NO_WAIT)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            return self._refuse(error.strerror or str(error))
        seen, folder = os.fstat(descriptor), os.stat(self.folder)
        if stat.S_ISDIR(seen.st_mode):
            os.close(descriptor)
            return self._refuse("it is a directory")
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(seen.st_mode) or not _private(seen):
                return self._refuse("it is not a regular file that only you can write")
            if not _private(folder):
                return self._refuse("its folder is not one that only you can write to")
            if seen.st_size > MAX_SIZE:
                return self._refuse(f"it is larger than {MAX_SIZE:,} bytes")
            try:
                stored = json.loads(file.read(MAX_SIZE))
                self._declined = {project: _text(digest) for project, digest in stored.get("declined", {}).items()}
                return {project: _approval(project, entry) for project, entry in stored["projects"].items()}
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                return self._refuse("it is damaged")

    def _refuse(self, why: str) -> dict[str, Approval]:
        fix = "Remove the file and approve again with `anyhook trust`."
        what = "the trust ledger is not used, so no project is approved"
        self.problems.append(Problem("ledger-refused", what, self.path, why, fix))
        return {}

    def items(self, project: str) -> dict[str, Item]:
        approval = self.approvals.get(project)
        return approval.items if approval else {}

    def known(self, project: str, key: str, look: Callable[[str], object] | None = None) -> list[Item]:
        """Every approval of one thing that may cover it in this project: the project's own first, then those of the
        same folder in other worktrees and clones of its repository, with the paths they would have here."""
        own = self.items(project).get(key)
        found = [] if own is None else [own]
        for approval in self._kin(project, key, look):
            place, other, item = self._places[project], approval.place, approval.items[key]
            if place is not None and other is not None:
                files = {place.here(path, other): digest for path, digest in item.files.items()}
                found.append(item.replace(files=files, afar=place.common != other.common))
        return found

    def _kin(self, project: str, key: str, look: Callable[[str], object] | None) -> list[Approval]:
        """Other checkouts' approvals of one thing. Git's files are read only if there may be any."""
        others = [
            approval
            for approval in self.approvals.values()
            if approval.place and approval.project != project and key in approval.items and not approval.items[key].here
        ]
        if not others:
            return []
        if project not in self._places:
            self._places[project] = place_of(project, look)
        place = self._places[project]
        return [each for each in others if place is not None and each.place is not None and place.same_as(each.place)]

    def counts_for(self, project: str) -> bool:
        """Whether anything was approved for a folder, there or in another checkout of its repository."""
        return project in self.approvals or bool(self._checkouts(project))

    def _checkouts(self, project: str) -> list[str]:
        """Other folders with approvals that are the same place of the same repository."""
        place = place_of(project)
        return [
            other
            for other, each in self.approvals.items()
            if place is not None and each.place is not None and other != project and place.same_as(each.place)
        ]

    def knows_hooks(self, project: str) -> bool:
        """The same for hooks: `approves_hooks`, there or in another checkout."""
        return any(map(self.approves_hooks, (project, *self._checkouts(project))))

    def approves_hooks(self, project: str) -> bool:
        """Whether a project has approvals of hooks."""
        approval = self.approvals.get(project)
        return approval is not None and not (
            approval.items and all(key.startswith(NOT_HOOKS) for key in approval.items)
        )

    def approve(
        self,
        project: str,
        items: Sequence[Item],
        contents: Mapping[str, bytes],
        dialects: Sequence[str] = (),
        *,
        here: bool = False,
    ) -> None:
        """Approve exactly these items, and drop earlier approvals of the project: only of these dialects, if any are
        given. With `here`, for this folder and no other checkout of its repository."""
        place = place_of(project)
        with self._changing():
            before = self.approvals.get(project)
            kept = _others(self.items(project), dialects)
            if before is not None and before.place != place:  # given for another repository, or before there was one
                kept = {key: item.replace(here=True) for key, item in kept.items()}
            items = [item.replace(here=here or item.here) for item in items]
            for digest, data in contents.items():
                write_private(f"{self.copies}/{digest}", data)
            when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            self.approvals[project] = Approval(project, when, {**kept, **{item.id: item for item in items}}, place)
            self._declined.pop(project, None)

    def revoke(self, project: str, dialects: Sequence[str] = ()) -> list[str]:
        """Revoke a project's approvals, or those of these dialects, together with the approvals of other checkouts that
        would count for it; returns the folders that lost an approval."""
        place = place_of(project)
        with self._changing():
            self._declined.pop(project, None)
            return [
                each.project for each in list(self.approvals.values()) if self._revoke(each, project, place, dialects)
            ]

    def _revoke(self, before: Approval, project: str, place: Place | None, dialects: Sequence[str]) -> bool:
        kept = _others(before.items, dialects)
        if before.project != project:
            if place is None or before.place is None or not place.same_as(before.place):
                return False
            kept.update({key: item for key, item in before.items.items() if item.here})
            if len(kept) == len(before.items):
                return False
        del self.approvals[before.project]
        if kept:
            self.approvals[before.project] = before.replace(items=kept)
        return len(kept) < max(len(before.items), 1)

    def decline(self, project: str, items: Sequence[Item]) -> None:
        """Record that exactly these items were shown and not approved, so that no one is asked twice."""
        with self._changing():
            self._declined[project] = _digest(items)

    def has_declined(self, project: str, items: Sequence[Item]) -> bool:
        return self._declined.get(project) == _digest(items)

    def copy(self, digest: str) -> bytes | None:
        """The approved bytes, if they were stored and are unchanged."""
        try:
            with open_regular(f"{self.copies}/{digest}") as file:
                data = file.read(MAX_SIZE)
        except (OSError, ValueError):
            return None
        return data if hashlib.sha256(data).hexdigest() == digest else None

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Lock the ledger for a change, and read it again."""
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        if not _private(os.stat(self.folder)):
            raise PermissionError(1, "others can write to this folder; give it mode 700", self.folder)
        with locked(self.folder, f"{os.path.basename(self.path)}.lock"):
            self.approvals = self._read()
            if self.problems:
                os.replace(self.path, f"{self.path}.refused")
            yield
            self._write()
            self._drop_copies()

    def _write(self) -> None:
        projects = {
            approval.project: {
                "when": approval.when,
                "items": {
                    key: {"definition": item.definition, "files": item.files, **({"here": True} if item.here else {})}
                    for key, item in approval.items.items()
                },
                **({"repository": _stored(approval.place)} if approval.place else {}),
            }
            for approval in self.approvals.values()
        }
        stored = {"version": 1, "projects": projects, "declined": self._declined}
        write_private(self.path, json.dumps(stored, indent=1).encode())

    def _drop_copies(self) -> None:
        """Delete copies without an approval."""
        wanted = {
            digest
            for approval in self.approvals.values()
            for item in approval.items.values()
            for digest in item.files.values()
        }
        try:
            for name in os.listdir(self.copies):
                if name not in wanted:
                    os.unlink(f"{self.copies}/{name}")
        except OSError:
            return  # they only serve to show differences


def _digest(items: Sequence[Item]) -> str:
    shown = sorted([item.id, item.definition, sorted(item.files.items())] for item in items)
    return hashlib.sha256(json.dumps(shown).encode()).hexdigest()


def _private(seen: os.stat_result) -> bool:
    return seen.st_uid == user_id() and not seen.st_mode & 0o022


def _others(items: Mapping[str, Item], dialects: Sequence[str]) -> dict[str, Item]:
    return {key: item for key, item in items.items() if dialects and key.partition(":")[0] not in dialects}


def _approval(project: str, entry: Mapping[str, Json]) -> Approval:
    """One entry of the file; TypeError or a similar exception for anything else."""
    when, stored = entry["when"], entry["items"]
    if not isinstance(when, str) or not isinstance(stored, dict):
        raise TypeError(project)
    items: dict[str, Item] = {}
    for key, item in stored.items():
        if not isinstance(item, dict):
            raise TypeError(key)
        definition, files = item["definition"], item["files"]
        if not isinstance(definition, str) or not isinstance(files, dict):
            raise TypeError(key)
        here = item.get("here", False) is not False
        items[key] = Item(key, definition, {path: _text(digest) for path, digest in files.items()}, here)
    return Approval(project, when, items, _place(entry.get("repository")))


def _stored(place: Place) -> dict[str, str]:
    return {field: getattr(place, field) for field in Place.fields}


def _place(stored: Json) -> Place | None:
    """None in approvals of earlier versions, which count for their folder only."""
    if stored is None:
        return None
    if not isinstance(stored, dict):
        raise TypeError(stored)
    return Place(*(_text(stored[field]) for field in Place.fields))


def _text(value: Json) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value
