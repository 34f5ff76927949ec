"""The trust ledger: which hooks of which projects their user has approved, pinned by content. It lives outside every
project, for its owner only, and nothing in a project can write to it."""

from __future__ import annotations

import json
import os
import stat

from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.stores.places import write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHOWN_LIMIT = 262_144
"""How many bytes of an approved file are kept, to show later what changed."""


class Item(Record):
    """One thing to approve: a hook, or a list of a project's that switches the user's hooks off."""

    id: str
    definition: str
    files: dict[str, str]
    """Absolute path → SHA-256 of the bytes; "" where there was no file."""

    def same_as(self, other: Item) -> bool:
        return self.definition == other.definition and self.files == other.files


class Approval(Record):
    """What was approved for one project, and when."""

    project: str
    when: str
    items: dict[str, Item]


class Ledger:
    """The file with all approvals, read once."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/trust.json"
        self.copies = f"{state_dir}/approved"
        self.problems: list[Problem] = []
        self.approvals: dict[str, Approval] = self._read()

    def _read(self) -> dict[str, Approval]:
        try:
            descriptor = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return {}
        except OSError as error:
            return self._refuse(error.strerror or str(error))
        with os.fdopen(descriptor, "rb") as file:
            seen = os.fstat(descriptor)
            if not stat.S_ISREG(seen.st_mode) or seen.st_uid != os.geteuid() or seen.st_mode & 0o022:
                return self._refuse("it is not a regular file that only you can write")
            try:
                stored = json.loads(file.read())
                return {
                    project: Approval(
                        project,
                        entry["when"],
                        {key: Item(key, item["definition"], item["files"]) for key, item in entry["items"].items()},
                    )
                    for project, entry in stored["projects"].items()
                }
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
                return self._refuse("it is damaged")

    def _refuse(self, why: str) -> dict[str, Approval]:
        self.problems.append(
            Problem("ledger-refused", "the trust ledger is not used, so no project is approved", self.path, why,
                    "Remove the file and approve again with `anyhook trust`.")  # fmt: skip
        )
        return {}

    def items(self, project: str) -> dict[str, Item]:
        approval = self.approvals.get(project)
        return approval.items if approval else {}

    def approve(self, project: str, items: Sequence[Item], contents: Mapping[str, bytes]) -> None:
        """Approves exactly these items and forgets what was approved for the project before."""
        import time

        for digest, data in contents.items():
            copy = f"{self.copies}/{digest}"
            if len(data) <= SHOWN_LIMIT and not os.path.exists(copy):
                write_private(copy, data)
        when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.approvals[project] = Approval(project, when, {item.id: item for item in items})
        self._write()

    def revoke(self, project: str) -> bool:
        known = self.approvals.pop(project, None) is not None
        if known:
            self._write()
        return known

    def copy(self, digest: str) -> bytes | None:
        """The approved bytes, where they were kept."""
        try:
            with open(f"{self.copies}/{digest}", "rb") as file:
                return file.read()
        except OSError:
            return None

    def _write(self) -> None:
        projects = {
            approval.project: {
                "when": approval.when,
                "items": {key: {"definition": item.definition, "files": item.files} for key, item in approval.items.items()},
            }
            for approval in self.approvals.values()
        }
        write_private(self.path, json.dumps({"version": 1, "projects": projects}, indent=1).encode())
