"""Calls that a person lets pass once: one hook's refusal of one call, in one project, for ten minutes. A permission is
used up, so of two calls at the same time only one passes."""

from __future__ import annotations

import hashlib
import json
from time import time
from typing import TYPE_CHECKING

from anyhook.model.lean_json import dumps
from anyhook.platform.places import NOWHERE
from anyhook.platform.store import KINDS, Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.json_types import Json

HOLDS_S = int(KINDS["allowed"][0])
"""How long a permission is valid."""
BOUND_TO = ("tool", "input")


def key_of(hook: str, project: str, event: str, data: Mapping[str, Json]) -> str:
    """The key of the permission for exactly this call; ValueError for a call that has no JSON form."""
    bound: list[Json] = [hook, project, event, *[data.get(field) for field in BOUND_TO]]
    text = json.dumps(bound, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def allow(folder: str, key: str, record: int | None) -> None:
    """Lets the call pass once."""
    Store(folder, "allowed").put(key, dumps({"until": int(time()) + HOLDS_S, "record": record}).encode())


def use(folder: str, key: str) -> bool:
    """Use a permission; whether there was one."""
    if folder == NOWHERE:
        return False
    until = Store(folder, "allowed").take(key).get("until")
    return isinstance(until, int) and 0 <= until - time() <= HOLDS_S
