"""What self-describing executables answered when they were asked for their event, kept by their content."""

from __future__ import annotations

import json

from anyhook.documents.read import Unreadable, read_bytes
from anyhook.state.places import write_private


class Types:
    """Content → answer. Asking is somebody else's work."""

    def __init__(self, state_dir: str) -> None:
        self.path = f"{state_dir}/types.json"
        try:
            stored = json.loads(read_bytes(self.path))
            self._kept = {key: str(value) for key, value in stored.items()}
        except (OSError, Unreadable, ValueError, AttributeError, RecursionError):
            self._kept = {}

    def get(self, digest: str) -> str | None:
        return self._kept.get(digest)

    def keep(self, answers: dict[str, str]) -> None:
        self._kept.update(answers)
        try:
            write_private(self.path, json.dumps(self._kept, indent=1).encode())
        except OSError:
            return  # they are asked again next time
