"""Compares the result of an event with what a case expects, and describes every difference. It reads only the files
that a case names."""

from __future__ import annotations

import difflib
import os
from typing import TYPE_CHECKING

from anyhook.extra.testing.conformance.matching import is_operation, mismatches
from anyhook.extra.testing.kit.box import unlike_file, unlike_json
from anyhook.extra.testing.kit.form import DECISION_FIELDS
from anyhook.extra.testing.kit.one_shot import means
from anyhook.journal.read import objects
from anyhook.model.json_types import Json
from anyhook.programs.named import within

if TYPE_CHECKING:
    from anyhook.extra.testing.kit.run import Fired

STARTED = ("ran", "background", "broken")


def differences(expect: dict[str, Json], fired: Fired) -> list[str]:
    """Everything that is not as expected."""
    found: list[str] = []
    if not fired.decision and any(key in expect for key in (*DECISION_FIELDS, "ran", "not_ran", "hooks", "problems")):
        return [f"nothing was decided: {fired.stderr.strip() or 'anyhook does not handle this event of the agent'}"]
    for key, wanted in expect.items():
        if key in DECISION_FIELDS:
            found += different(wanted, fired.decision.get(key), key)
        elif key in ("exit", "stdout", "stderr"):
            found += different(wanted, getattr(fired, key), key)
        elif key == "json":
            found += unlike_json(wanted, fired.stdout, "json: stdout", "json")
        elif key == "files":
            found += _files(wanted, fired.project)
        else:
            found += _hooks(key, wanted, reports(fired.decision))
    found += _problems(expect, fired)
    found += _unexpected_failures(expect, fired)
    return [*found, *hook_notes(fired)] if found else []


def different(wanted: Json, actual: Json, name: str) -> list[str]:
    """The differences of one value; texts of several lines as a diff."""
    long = isinstance(wanted, str) and isinstance(actual, str) and "\n" in wanted.strip() + actual.strip()
    if not long or wanted == actual or is_operation(wanted):
        return mismatches(wanted, actual, name)
    lines = difflib.unified_diff(
        str(wanted).splitlines(), str(actual).splitlines(), "expected", "got", lineterm="", n=3
    )
    body = list(lines) or ["(they differ in the line at the end)"]
    return ["\n".join([f"{name}:", *body])]


def _files(wanted: Json, project: str) -> list[str]:
    found: list[str] = []
    for path, text in wanted.items() if isinstance(wanted, dict) else ():
        place = os.path.realpath(os.path.join(project, path))
        if within(place, os.path.realpath(project)):
            found += unlike_file(text, place, f"files: {path}", different)
        else:
            found.append(f"files: {path} leads out of the project, to {place}; it is not read")
    return found


def reports(decision: dict[str, Json]) -> list[dict[str, Json]]:
    """The result of each hook."""
    return objects(decision.get("hooks"))


def _named(name: str, reports: list[dict[str, Json]]) -> list[dict[str, Json]]:
    return [row for row in reports if means(name, str(row.get("id")), str(row.get("name")))]


def _hooks(key: str, wanted: Json, reports: list[dict[str, Json]]) -> list[str]:
    """`ran`, `not_ran`, `failed` and `hooks`: the results of single hooks."""
    found: list[str] = []
    for name in wanted if isinstance(wanted, (list, dict)) and key != "problems" else ():
        rows = _named(str(name), reports)
        expected = wanted[str(name)] if isinstance(wanted, dict) else None
        if rows:
            found += _one_hook(key, str(name), expected, rows)
        else:
            known = ", ".join(str(row.get("id")) for row in reports) or "none"
            found.append(f"{key}: no hook `{name}` was considered for this event. Hooks: {known}")
    return found


def _one_hook(key: str, name: str, expected: Json, rows: list[dict[str, Json]]) -> list[str]:
    started = any(row.get("status") in STARTED for row in rows)
    if key == "ran" and not started:
        states = "; ".join(f"{row.get('id')} is {row.get('status')}: {row.get('why')}" for row in rows)
        return [f"ran: `{name}` did not run ({states})"]
    if key == "not_ran" and started:
        return [f"not_ran: `{name}` ran"]
    return min((mismatches(expected, row, name) for row in rows), key=len) if key == "hooks" else []


def _problems(expect: dict[str, Json], fired: Fired) -> list[str]:
    wanted = expect.get("problems")
    if not isinstance(wanted, list):
        return []
    problems = objects(fired.decision.get("problems"))
    missing = [
        f"problems: `{code}` was not reported" for code in wanted if code not in [p.get("code") for p in problems]
    ]
    more = [
        f"problems: `{problem.get('code')}` was reported: {problem.get('what')}"
        for problem in problems
        if problem.get("code") not in wanted
    ]
    return missing + more


def _unexpected_failures(expect: dict[str, Json], fired: Fired) -> list[str]:
    """A broken hook decided nothing, so a case with one proves nothing, unless it expects that."""
    allowed = expect.get("failed")
    names = [str(name) for name in allowed] if isinstance(allowed, list) else []
    found = [f"failed: `{name}` did not fail" for name in names if not any(means(name, hook) for hook in fired.failed)]
    return found + [
        f"failed: {hook} broke ({how}); a case that expects so says `failed: [{hook}]`"
        for hook, how in fired.failed.items()
        if not any(means(name, hook) for name in names)
    ]


def hook_notes(fired: Fired) -> list[str]:
    """What the hooks printed, to help find the cause."""
    lines: list[str] = []
    for row in reports(fired.decision):
        line = f"{row.get('id')}  {row.get('status')}"
        if row.get("exit_code") is not None:
            line += f", exit {row['exit_code']}"
        lines.append(f"{line}: {row['why']}" if row.get("why") else line)
        for stream in ("stdout", "stderr"):
            said = str(row.get(stream) or "").strip()
            lines += [f"  {stream}: {part}" for part in said.splitlines()[-12:]]
    return ["\n".join(["hooks:", *(f"  {line}" for line in lines)])] if lines else ["hooks: none for this event"]
