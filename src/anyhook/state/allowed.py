"""Calls that a person lets pass once: one hook's refusal of one call, in one project, for ten minutes. A permission is
used up, so of two calls at the same time only one passes."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from time import time
from typing import TYPE_CHECKING

from anyhook.documents.places import AT_ONCE, NOWHERE, write_private
from anyhook.model.lean_json import dumps, loads

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

HOLDS_S = 600
"""How long a permission is valid."""
BOUND_TO = ("tool", "input")


def path_of(folder: str, hook: str, project: str, event: str, data: Mapping[str, Json]) -> str:
    """Where the permission for exactly this call is kept; ValueError for a call that has no JSON form."""
    bound: list[Json] = [hook, project, event, *[data.get(field) for field in BOUND_TO]]
    text = json.dumps(bound, sort_keys=True, ensure_ascii=True)
    return f"{folder}/allowed/{hashlib.sha256(text.encode()).hexdigest()}"


def allow(path: str, record: int | None) -> None:
    """Lets the call pass once."""
    write_private(path, dumps({"until": int(time()) + HOLDS_S, "record": record}).encode())


def use(path: str) -> bool:
    """Use a permission; whether there was one."""
    if path.startswith(NOWHERE):
        return False
    try:
        with open(os.open(path, AT_ONCE), encoding="utf-8") as file:
            said = loads(file.read())
            own = os.fstat(file.fileno()).st_uid == os.geteuid()
        os.unlink(path)
    except (OSError, ValueError):
        return False
    with suppress(OSError):
        os.rmdir(os.path.dirname(path))  # where there is nothing, refusals cost nothing more
    until = said.get("until") if isinstance(said, dict) else None
    return own and isinstance(until, int) and 0 <= until - time() <= HOLDS_S
