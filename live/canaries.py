"""Secrets that the model must not read: with the pack `redact` on, the agent's tools print a secret of every kind of
`tests/data/secrets.json`, and what reached the scripted model is compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from anyhook.extra.live.drive import Request
from anyhook.extra.live.script import Step
from live.performance import play

TABLE = Path(__file__).resolve().parent.parent / "tests" / "data" / "secrets.json"
HOOKS = ".config/anyhook/hooks.toml"
FILES = 8
"""In how many files the secrets are: agents cut long outputs."""
WITNESS = "WITNESS"
"""Begins each file, so that an output that never reached the model is not taken for a clean one."""


def kinds() -> dict[str, tuple[str, str]]:
    """Kind → a text with a secret, and the secret."""
    rows = json.loads(TABLE.read_text())["kinds"]
    return {row["kind"]: (row["text"].replace("{secret}", value := "".join(row["secret"])), value) for row in rows}


def shown(agent: str) -> dict[str, Any]:
    """How many kinds reached the model through a shell's output and through the tool that reads files, and which."""
    table = kinds()
    names = sorted(table)
    parts = {f"{number}.txt": names[number::FILES] for number in range(FILES)}
    files = {
        f"canaries/{name}": f"{WITNESS}{name}\n\n" + "\n\n".join(table[kind][0] for kind in inside) + "\n"
        for name, inside in parts.items()
    }
    brought = Step(tool="shell", input={"command": "cp ~/canaries/*.txt ."})
    found: dict[str, Any] = {"kinds": len(table)}
    for how, steps in (
        ("shell", [Step(tool="shell", input={"command": f"cat {name}"}) for name in parts]),
        ("file", [Step(tool="read_file", input={"path": f"{{project}}/{name}"}) for name in parts]),
    ):
        seen = play(agent, {HOOKS: 'use = ["redact"]\n', **files}, [brought, *steps, Step("done")], "Please look.").seen
        heard = [name for name in parts if any(f"{WITNESS}{name}" in request.text for request in seen.requests)]
        read = {kind for name in heard for kind in parts[name]}
        seen_kinds = sorted(read & reached(table, seen.requests))
        print(f"{agent}: {how}: {len(read)} kinds were read; shown: {', '.join(seen_kinds) or 'none'}", flush=True)
        found[how] = {"read": len(read), "shown": len(seen_kinds)}
    return found


def reached(table: dict[str, tuple[str, str]], requests: tuple[Request, ...]) -> set[str]:
    """The kinds whose text, or whose secret if no other kind has the same, is in a request."""
    everything = "\n".join(request.text for request in requests)
    values = [value for _, value in table.values()]
    return {
        kind
        for kind, (text, value) in table.items()
        if text in everything or (values.count(value) == 1 and value in everything)
    }
