"""Calls copied from the conformance vectors, for layouts that the matrix does not have."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

Case = dict[str, Any]

UNFIT = re.compile(
    r"sleep|127\.0\.0\.1|localhost|http|--model|setsid|nohup|&\s|/proc|background|async|needs|head -c|seq |dd if|\$\$|"
    r"yes \||urandom|ulimit|date|uuid|limit-ends|overflow|at-once",
)
"""Vectors that depend on time, the network, a model or the machine, or are large."""
RECORDED = ("fire", "list", "explain", "bridge")
PREPARING = ("trust", "enable", "disable")
PROJECT_VERBS = (*RECORDED[:3], *PREPARING)


def vector_cases(folder: Path, dialects: Iterable[str], per_dialect: int) -> tuple[dict[str, Any], list[Case]]:
    """Scenes and cases of every n-th suitable vector of some dialects, up to a limit for each dialect."""
    scenes: dict[str, Any] = {}
    cases: list[Case] = []
    for place in (folder / name for name in sorted(dialects)):
        fit = [vector for vector in _vectors(place) if _is_fit(vector)]
        step = max(1, len(fit) // per_dialect)
        for vector in fit[::step]:
            scene = {room: vector[room] for room in ("home", "project", "plugin", "env") if vector.get(room)}
            scenes[vector["id"]] = scene
            cases.extend(_calls(vector, place.name))
    return scenes, cases


def _vectors(place: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(place.glob("*.json")):
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, list):
            yield from found


def _is_fit(vector: dict[str, Any]) -> bool:
    text = json.dumps({name: vector.get(name) for name in ("id", "home", "project", "plugin", "env", "steps", "needs")})
    return not (UNFIT.search(text.replace('"needs": null', "")) or len(text) > 4000)


def _calls(vector: dict[str, Any], dialect: str) -> Iterator[Case]:
    before: list[dict[str, Any]] = []
    for step in vector["steps"]:
        argv = step.get("run")
        if argv and argv[0] in PROJECT_VERBS and "--project" not in argv:
            argv = [argv[0], *argv[1:], "--project", "{project}"]
        if not argv:
            before.append({name: step[name] for name in ("write", "sh", "in") if name in step})
        elif argv[0] in PREPARING:
            before.append({"run": argv})
        elif argv[0] in RECORDED:
            found = {"scene": vector["id"], "argv": argv, "dialects": [dialect]}
            if step.get("stdin"):
                found["stdin"] = step["stdin"]
            yield {**found, "before": list(before)} if before else found
