"""The script of a converted hook. It calls the hook's own command with the payload of its dialect, and answers in the
format of the new dialect. It needs Python, but not anyhook. Its tables come from the rows of the two dialects."""

from __future__ import annotations

import json

from anyhook.extra.testing.hook_script import GRANTS
from anyhook.extra.testing.kit.events import leaves, marked, path_of
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.tables import spoken
from anyhook.tables.registry import special
from anyhook.tables.rows import BLOCKING, SPECIFIC, Dialect, EventRow, Key, Reply
from anyhook.tables.spoken import Spoken, put, reply_of

Path = tuple[str, ...]

TEMPLATE = '''#!/usr/bin/env python3
"""Written by `anyhook convert` from {id} ({source}): a {target} hook that runs a hook of {dialect}."""
import json, os, subprocess, sys

T = json.loads({tables!r})


def get(value, path):
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def put(value, path, new):
    for key in path[:-1]:
        value = value.setdefault(key, {{}})
    value[path[-1]] = new


if T["ask"] and sys.argv[1:2] == [T["ask"]]:
    print(T["event"])
    sys.exit(0)
given = json.load(sys.stdin)
tool, names = T["tools"].get(str(get(given, T["tool"]) if T["tool"] else ""), [None, {{}}])
asked = T["fixed"]
for old, new in T["fields"]:
    if (value := get(given, old)) is not None:
        put(asked, new, value)
if T["input"] and isinstance(get(given, T["input"][0]), dict):
    put(asked, T["input"][1], {{names.get(key, key): value for key, value in get(given, T["input"][0]).items()}})
if tool is not None:
    put(asked, T["tool_to"], tool)
if T["only"] is not None and tool not in T["only"]:
    if T["silence"]:
        print(json.dumps(T["silence"]))
    sys.exit(0)
env = {{**os.environ, **{{key: value.replace("{{cwd}}", os.getcwd()) for key, value in T["env"].items()}}}}
try:
    sent = json.dumps(asked, ensure_ascii=False, separators=T["between"]).encode()
except UnicodeEncodeError:
    sent = json.dumps(asked).encode()
done = subprocess.run(T["argv"], input=sent, capture_output=True, env=env)
out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace").strip()
means = T["exits"].get(str(done.returncode), T["otherwise"])
if means == "fail":
    sys.stderr.write(err or f"exit status {{done.returncode}}")
    sys.exit(done.returncode if str(done.returncode) not in T["taken"] else 1)
said = {{}}
for text in (out, out.strip().rpartition("\\n")[2]):
    try:
        answer = json.loads(text)
    except ValueError:
        continue
    if isinstance(answer, dict):
        for path, does, words in T["reads"]:
            value = get(answer, path)
            if value is None:
                continue
            if does == "block":
                said.update({{"verdict": "block"}} if value is True else {{}})
            elif does == "verdict":
                said["verdict"] = words.get(value, said.get("verdict")) if isinstance(value, str) else None
            else:
                said[does] = value
        break
else:
    if out.strip() and T["hears"] and means not in T["blocking"]:
        said[T["hears"]] = out.strip()
if means in T["blocking"]:
    said["verdict"] = "block"
    said["reason"] = err or said.get("reason") or out.strip()
answer, verdict = {{}}, said.pop("verdict", None)
if verdict == "ask" and "ask" not in T["grants"]:
    verdict = "block"  # nobody can be asked here, and a hook never becomes weaker
if verdict == "block":
    if T["refusal"][0]:
        sys.stderr.write(str(said.get("reason") or err or {unsaid!r}))
        sys.exit(T["refusal"][0])
    answer = T["refusal"][1]
    if T["reason"]:
        put(answer, T["reason"], str(said.pop("reason", "") or err or {unsaid!r}))
elif verdict in T["grants"]:
    put(answer, T["grants"][verdict][0], T["grants"][verdict][1])
    for where, more in T["grants"][verdict][2]:
        put(answer, where, more)
for does, value in said.items():
    for path, beside in T["writes"].get(does, ()):
        for where, more in beside:
            put(answer, where, more)
        if does == "tool_input" and isinstance(value, dict):
            back = {{new: old for old, new in names.items()}}
            value = {{back.get(key, key): item for key, item in value.items()}}
        put(answer, path, value)
if not answer and T["speaks"] in said:
    print(said[T["speaks"]])
elif answer or T["silence"]:
    print(json.dumps({{**T["silence"], **answer}}))
'''

UNSAID = "a hook refused this"
"""The reason of a refusal that gives none: some dialects ignore a refusal without a reason."""


def shim(
    hook: Hook,
    rows: tuple[Dialect, EventRow, Dialect, EventRow],
    canonical: str,
    argv: tuple[str, ...],
    env: dict[str, str],
    only: list[str] | None,
) -> str:
    """The text of the script. `rows` are the old dialect with its event, and the new one; `only` are the tools that the
    hook is for, by its own dialect's names."""
    source, _, target, new = rows
    tables: dict[str, Json] = {
        "argv": [*argv],
        "env": {**env},
        "only": [*only] if only is not None else None,
        "ask": special(target.name, "ASK_TYPE") or "",
        "event": new.native,
        "between": [",", ":"] if source.dense else [", ", ": "],
        **_asked(rows, canonical),
        **_heard(reply_of(source, canonical), reply_of(target, canonical), canonical),
        **_writes(target, new, canonical),
    }
    return TEMPLATE.format(
        id=hook.id, source=hook.source, dialect=source.title, target=target.title,
        tables=json.dumps(tables, ensure_ascii=True), unsaid=UNSAID,
    )  # fmt: skip


def _asked(rows: tuple[Dialect, EventRow, Dialect, EventRow], canonical: str) -> dict[str, Json]:
    """How the old payload is made from the new one."""
    source, old, target, new = rows
    asked, given = marked(source, old, canonical), marked(target, new, canonical)
    paths = {value: path for path, value in given.items() if isinstance(value, str)}
    tool = (paths.get("‹tool›"), path_of("‹tool›", asked))
    inputs = (_inside(given), _inside(asked))
    fixed: dict[str, Json] = {}
    for path, value in asked.items():
        if not str(value).startswith("‹"):
            put(fixed, path, value)
    return {
        "tool": _listed(tool[0]),
        "tool_to": _listed(tool[1]),
        "tools": _tools(source, target) if all(tool) else {},
        "input": [_listed(each) for each in inputs] if all(inputs) else None,
        "fields": [[[*paths[str(value)]], [*path]] for path, value in asked.items() if _moves(value, paths)],
        "fixed": fixed,
    }


def _listed(path: Path | None) -> Json:
    return [*path] if path else None


def _moves(value: Json, paths: dict[str, Path]) -> bool:
    """Whether a field of the old payload is copied from the new one."""
    return isinstance(value, str) and value in paths and value not in ("‹tool›", "‹input›")


def _heard(theirs: Reply, ours: Reply, canonical: str) -> dict[str, Json]:
    """What the old hook's answer means, and which exit statuses the new dialect has taken."""
    return {
        "exits": {str(status): meaning for status, meaning in theirs.exits.items()},
        "otherwise": theirs.otherwise,
        "blocking": [*BLOCKING],
        "taken": [str(status) for status in ours.exits],
        "hears": theirs.text_does if not theirs.text_on or canonical in theirs.text_on else "",
        "speaks": ours.text_does if not ours.text_on or canonical in ours.text_on else "",
        "reads": [
            [[*key.path], key.does, {**dict(key.meanings(canonical))}] for key in theirs.keys if key.counts(canonical)
        ],
    }


def _writes(target: Dialect, row: EventRow, canonical: str) -> dict[str, Json]:
    """How to express each effect in the new dialect."""
    refused = spoken.refusal(target, row, canonical, UNSAID) or Spoken()
    answer: Json = json.loads(refused.stdout) if refused.stdout else None
    heard = [key for key in reply_of(target, canonical).keys if key.counts(canonical)]
    examples: dict[str, Json] = special(target.name, "EXAMPLE_ANSWERS") or {}
    writes: dict[str, Json] = {}
    grants: dict[str, Json] = {}
    for key in heard:
        needed = _needed(key, heard, row)
        beside = leaves(examples.get(".".join(key.path))).items()
        others: list[Json] = [[[*path], value] for path, value in beside if path != key.path]
        writes.setdefault(key.does, [[[*key.path], others + needed]])
        for word, verdict in key.meanings(canonical):
            if verdict in GRANTS:
                grants.setdefault(verdict, [[*key.path], word, needed])
    return {
        "silence": {**row.silence},
        "refusal": [refused.status, answer],
        "reason": _listed(path_of(UNSAID, leaves(answer))),
        "grants": grants,
        "writes": writes,
    }


def _needed(key: Key, heard: list[Key], row: EventRow) -> list[Json]:
    """What a key needs next to it: the event's name in the same object, and for a rewrite the value that lets the call
    pass."""
    inside = key.path[:-1]
    found: list[Json] = []
    if inside[:1] == (SPECIFIC,):
        found.append([[SPECIFIC, "hookEventName"], row.native])
    for other in heard if key.does == "tool_input" else ():
        passing = [word for word, verdict, _ in other.words if verdict == "none"]
        if other.path[:-1] == inside and passing:
            found.append([[*other.path], passing[0]])
    return found


def _tools(source: Dialect, target: Dialect) -> dict[str, Json]:
    """The new dialect's name of a tool → the old one, and the old names of its inputs."""
    found: dict[str, Json] = {}
    for ours in {**source.tools, **target.tools}:
        old, new = source.tools.get(ours), target.tools.get(ours)
        name_old, name_new = (row.native if row is not None else ours for row in (old, new))
        to_old = dict(old.inputs) if old is not None else {}
        to_new = dict(new.inputs) if new is not None else {}
        fields = {to_new.get(field, field): to_old.get(field, field) for field in {**to_old, **to_new}}
        found[name_new] = [name_old, {one: other for one, other in fields.items() if one != other}]
    return found


def _inside(found: dict[Path, Json]) -> Path | None:
    """The path of the tool's input."""
    path = path_of("‹input›", found)
    return path[:-1] if path else None
