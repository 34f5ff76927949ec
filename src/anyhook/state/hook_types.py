"""What self-describing executables answered when they were asked for their event, kept by their content."""

from __future__ import annotations

import json
import os

from anyhook.documents.places import write_private
from anyhook.documents.read import Unreadable, read_bytes
from anyhook.state.locks import locked


class HookTypes:
    """Content → answer. It does not ask anything itself."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/types.json"
        self._kept = self._read()

    def _read(self) -> dict[str, str]:
        try:
            stored = json.loads(read_bytes(self.path))
        except (OSError, Unreadable, ValueError, RecursionError):
            return {}
        return {key: str(value) for key, value in stored.items()} if isinstance(stored, dict) else {}

    def get(self, digest: str) -> str | None:
        return self._kept.get(digest)

    def keep(self, answers: dict[str, str]) -> None:
        """Add answers to what is in the file now."""
        try:
            with locked(*os.path.split(f"{self.path}.lock")):
                self._kept = {**self._read(), **self._kept, **answers}
                write_private(self.path, json.dumps(self._kept, indent=1).encode())
        except OSError:
            self._kept.update(answers)  # the file's readers ask again next time
