"""Turns problems into one SARIF 2.1.0 log, as code scanners read it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from urllib.parse import quote_from_bytes

from anyhook.gates.status import split_place
from anyhook.model.json_types import Json
from anyhook.model.problem import ERROR, Problem

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
PROJECT_BASE = "%SRCROOT%"
"""The usual name for the project's root; the reader of the log resolves it."""


def sarif(
    problems: Sequence[Problem], root: str | None = None, helps: Mapping[str, str] | None = None
) -> dict[str, Json]:
    """The log; paths inside `root`, the project, are relative; `helps` has a text per code."""
    roots = _spellings(root)
    codes = list(dict.fromkeys(problem.code for problem in problems))
    first = {problem.code: problem for problem in reversed(problems)}
    rules: list[Json] = [_rule(first[code], (helps or {}).get(code), roots) for code in codes]
    results: list[Json] = [_result(problem, codes.index(problem.code), roots) for problem in problems]
    driver: dict[str, Json] = {"name": "anyhook", "version": _version(), "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _version() -> str:
    try:
        return version("anyhook")
    except PackageNotFoundError:
        return "unknown"


def _spellings(root: str | None) -> tuple[str, ...]:
    """The project's root as given and as resolved: a problem may use either."""
    if root is None:
        return ()
    return tuple(dict.fromkeys((os.path.abspath(root), os.path.realpath(root))))


def _rule(problem: Problem, text: str | None, roots: Sequence[str]) -> dict[str, Json]:
    advice = text or _sentences(problem.fix) or _sentences(problem.why) or _sentences(problem.what)
    return {
        "id": problem.code,
        "shortDescription": _message(f"anyhook problem {problem.code}", roots),
        "help": _message(f"{advice} More under {problem.code} in docs/errors.md of anyhook.", roots),
        "defaultConfiguration": {"level": _level(problem)},
    }


def _result(problem: Problem, rule: int, roots: Sequence[str]) -> dict[str, Json]:
    result: dict[str, Json] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _level(problem),
        "message": _message(_sentences(problem.what, problem.why, problem.fix), roots),
    }
    if problem.where:
        result["locations"] = [_location(problem.where, roots)]
    return result


def _level(problem: Problem) -> str:
    return "error" if problem.severity == ERROR else "warning"


def _sentences(*parts: str) -> str:
    ended = (part if part.endswith((".", "!", "?")) else f"{part}." for part in map(str.strip, parts) if part)
    return " ".join(ended)


def _message(text: str, roots: Sequence[str]) -> dict[str, Json]:
    for root in roots:
        text = text.replace(root.rstrip(os.sep) + os.sep, "")
    # SARIF reads {0} as a placeholder and has literal braces doubled (section 3.11.5).
    return {"text": text.replace("{", "{{").replace("}", "}}")}


def _location(where: str, roots: Sequence[str]) -> dict[str, Json]:
    path, line = split_place(where)
    artifact = _artifact(path, roots)
    if artifact is None:
        return {"logicalLocations": [{"fullyQualifiedName": where}]}
    physical: dict[str, Json] = {"artifactLocation": artifact}
    if line is not None:
        physical["region"] = {"startLine": line}
    return {"physicalLocation": physical}


def _artifact(path: str, roots: Sequence[str]) -> dict[str, Json] | None:
    """Where the file is; None for anything else, such as the id of a hook."""
    if not os.path.isabs(path):
        if not roots or not os.path.lexists(os.path.join(roots[0], path)):
            return None
        path = os.path.join(roots[0], path)
    file = Path(os.path.normpath(path))
    for root in roots:
        if file.is_relative_to(root):
            inside = os.fsencode(file.relative_to(root).as_posix())
            return {"uri": quote_from_bytes(inside, safe="/"), "uriBaseId": PROJECT_BASE}
    return {"uri": file.as_uri()}
