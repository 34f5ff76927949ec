"""What self-describing executables answered when they were asked for their event, kept by their content."""

from __future__ import annotations

import json

from anyhook.platform.store import Store


class HookTypes:
    """Content → answer. It does not ask anything itself."""

    def __init__(self, state_dir: str) -> None:
        self._store = Store(state_dir, "types")
        self.path = self._store.folder
        self._kept: dict[str, str] = {}

    def get(self, digest: str) -> str | None:
        if digest not in self._kept:
            found = self._store.read_object(digest).get("answer")
            if isinstance(found, str):
                self._kept[digest] = found
        return self._kept.get(digest)

    def keep(self, answers: dict[str, str]) -> None:
        """Keep answers. Where that is not possible, the next one asks again."""
        self._kept.update(answers)
        for digest, answer in answers.items():
            self._store.write(digest, json.dumps({"answer": answer}).encode())
