"""What self-describing executables answered when they were asked for their event, kept by their content."""

from __future__ import annotations

import json
import os
from contextlib import suppress

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.platform.store import Store


class HookTypes:
    """Content → answer. It does not ask anything itself."""

    def __init__(self, state_dir: str) -> None:
        self._store = Store(state_dir, "types")
        self.path = self._store.folder
        self._before = f"{state_dir}/types.json"
        """The one file of the version before. Its answers move when there is a new one."""
        self._kept = self._read_before()

    def _read_before(self) -> dict[str, str]:
        try:
            stored = json.loads(read_bytes(self._before))
        except (OSError, Unreadable, ValueError, RecursionError):
            return {}
        return {key: str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}

    def get(self, digest: str) -> str | None:
        if digest not in self._kept:
            found = self._store.read_object(digest).get("answer")
            if isinstance(found, str):
                self._kept[digest] = found
        return self._kept.get(digest)

    def keep(self, answers: dict[str, str]) -> None:
        """Keep answers. Where that is not possible, the next one asks again."""
        self._kept.update(answers)
        before = self._read_before()
        for digest, answer in {**before, **answers}.items():
            self._store.write(digest, json.dumps({"answer": answer}).encode())
        for path in (self._before, f"{self._before}.lock"):
            with suppress(OSError):
                os.unlink(path)
