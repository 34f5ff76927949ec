"""Installs: which files of agents we changed, what they were before, and what we made of them. It decides nothing."""

from __future__ import annotations

import hashlib
import json
import os

from anyhook.documents.documents import Unreadable, read_bytes
from anyhook.state.places import write_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Installs:
    """Path → agent, scope, digest of what we wrote, and the backup of what was there."""

    def __init__(self, state_dir: str) -> None:
        self.folder = f"{state_dir}/installs"
        self.path = f"{self.folder}/index.json"
        try:
            found = json.loads(read_bytes(self.path))
            self.known: dict[str, dict[str, Json]] = {path: row for path, row in found.items() if isinstance(row, dict)}
        except (OSError, Unreadable, ValueError, AttributeError, RecursionError):
            self.known = {}

    def of(self, agent: str, scope: str = "") -> dict[str, dict[str, Json]]:
        """The files of one agent."""
        return {
            path: row
            for path, row in self.known.items()
            if row.get("agent") == agent and scope in ("", row.get("scope"))
        }

    def before(self, path: str, now: bytes | None) -> tuple[bool, bytes | None]:
        """Whether what was there can be put back byte for byte, because nobody changed what we wrote; and what it was,
        None for no file."""
        row = self.known.get(path)
        if row is None or now is None or row.get("after") != digest(now):
            return False, None
        backup = row.get("backup")
        if not isinstance(backup, str):
            return True, None
        try:
            return True, read_bytes(f"{self.folder}/{backup}")
        except (OSError, Unreadable):
            return False, None

    def keep(
        self, path: str, agent: str, scope: str, before: bytes | None, after: bytes, folders: list[str]
    ) -> str | None:
        """Remembers one change, and the folders that were made for it; the backup's path."""
        backup = None
        if before is not None:
            backup = f"{digest(path.encode())[:12]}-{digest(before)[:12]}.bak"
            write_private(f"{self.folder}/{backup}", before)
        made: list[Json] = [*folders]
        self.known[path] = {"agent": agent, "scope": scope, "after": digest(after), "backup": backup, "folders": made}
        self._write()
        return f"{self.folder}/{backup}" if backup else None

    def folders(self, path: str) -> list[str]:
        """The folders that were made for a file, the innermost first."""
        found = self.known.get(path, {}).get("folders")
        return [str(folder) for folder in found] if isinstance(found, list) else []

    def forget(self, path: str) -> None:
        row = self.known.pop(path, None)
        if row is None:
            return
        self._write()
        if row.get("backup"):
            try:
                os.unlink(f"{self.folder}/{row['backup']}")
            except OSError:
                pass

    def _write(self) -> None:
        write_private(self.path, json.dumps(self.known, indent=1).encode())
