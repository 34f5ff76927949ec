"""Long context: cuts text that is longer than a host accepts, says so in the text, and stores all of it in a file. The
host itself would cut it silently."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.model.lean_json import digest
from anyhook.model.problem import WARNING, Problem
from anyhook.platform.places import state_dir
from anyhook.platform.store import Store

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anyhook.model.firing import Settled


def cut(settled: Settled, limit: int, env: Mapping[str, str], where: str) -> Settled:
    """The same with a context of at most `limit` bytes, and a problem if it was longer."""
    data = str(settled.effects["context"]).encode("utf-8", "replace")
    if len(data) <= limit:
        return settled
    path = _kept(Store(state_dir(env), "context"), data)
    place = f"all of it is in {path}" if path else "the rest could not be kept"
    mark = f"\n\n[anyhook cut this context: it had {len(data):,} bytes, and this agent takes {limit:,}; {place}]"
    head = data[: max(limit - len(mark.encode()), 0)].decode("utf-8", "ignore")
    what = f"the context of {len(data):,} bytes was cut to {limit:,}"
    fix = f"Let the hooks say less. {f'All of it is in {path}.' if path else ''}".strip()
    problem = Problem("context-cut", what, where, "this agent takes no more at once", fix, WARNING)
    return settled.replace(effects={**settled.effects, "context": head + mark}, problems=(*settled.problems, problem))


def _kept(store: Store, data: bytes) -> str:
    """Where it was written; "" if that failed."""
    key = digest(data)[:16]
    return store.path(key) if store.write(key, data) or os.path.isfile(store.path(key)) else ""
