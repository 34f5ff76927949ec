"""Codex's transcripts: `sessions/YEAR/MONTH/DAY/rollout-….jsonl` in its folder; until summer 2025 one JSON object in
`sessions/rollout-….json`. They use the model's names for the shell; here it is `Bash`, as in hooks."""

from __future__ import annotations

import errno
import json
import re
import shlex
from collections import Counter
from contextlib import suppress

from anyhook.tables.past import *

SHELLS = ("exec_command", "shell", "shell_command", "container.exec", "local_shell", "unified_exec")
CALLS = ("function_call", "custom_tool_call", "local_shell_call")
ABOUT_RUN = re.compile(r"(?:(?:Chunk ID|Wall time|Process|Original token count|Exit code)\b.*\n)+Output:\n")
EXIT = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)")
TOLD_CWD = re.compile(r"<cwd>([^<]+)</cwd>|Current working directory: ([^\n]+)")
TEXT_IN_CODE = r"""(?:"(?:[^"\\\n]|\\.)*+"|'(?:[^'\\\n]|\\.)*+'|`(?:[^`\\$]|\\.)*+`)"""
TEXT_NAMED = re.compile(rf"\b(\w++)\s*+\+?=(?![=>])\s*(?:({TEXT_IN_CODE})(?=\s*(?:;|\Z|\n\s*\w)))?", re.DOTALL)
"""A name that is set in JavaScript, and the text that it is set to."""
IN_CODE = re.compile(
    rf"""\btools\.(?:(?P<shell>exec_command|shell_command)|apply_patch)\(\s*"""
    rf"""(?:\{{(?:[^"'`{{}}]|{TEXT_IN_CODE})*?["']?\b(?:cmd|command|input|patch)\b["']?\s*:\s*)?"""
    rf"""(?P<text>{TEXT_IN_CODE}|\w+)\s*[,}})]|{TEXT_IN_CODE}|//[^\n]*"""
    r"""|(?P<other>\btools\b|`(?=[^`]*\btools\b)(?:[^`\\]|\\.)*+`)|`(?:[^`\\]|\\.)*+`""",
    re.DOTALL,
)
"""A call of the shell's tool or of the one for patches, whose text is written out or has a name; any other mention of
tools; a text or a comment, in which nothing is called."""
SLASHED = re.compile(r"\\(.)", re.DOTALL)
NOT_RUN = re.compile(r"\w+(?: verification)? failed: |Command blocked by PreToolUse hook: ")
"""What is said instead of a result if Codex or a hook did not let a call run."""


def places(roots: Roots) -> list[str]:
    folder = roots.env.get("CODEX_HOME") or f"{roots.home}/.codex"
    names = ("sessions", "archived_sessions")
    found = [path for name in names for path in files_below(f"{folder}/{name}", ".jsonl", ".json")]
    return [path for path in found if "/rollout-" in path]


def events(path: str) -> Iterator[PastEvent]:
    session, started, passed = TranscriptSession(), 0, 0
    for line in json_lines(path) if path.endswith(".jsonl") else _of_one(path):
        at, payload = ns_of(line.get("timestamp")), line.get("payload")
        session.project = str(inner(payload, "cwd") or session.project)
        if line.get("type") == "session_meta":
            session.session = str(inner(payload, "id") or "")
        elif line.get("type") == "response_item":
            yield from _item(session, at, payload)
        elif "type" not in line and "id" in line:  # until September 2025, lines were bare items, without a time
            session.session, started = str(line["id"]), at
        elif payload is None:
            passed += line.get("type") in CALLS and not session.session
            session.project = session.project or _named_folder(line)
            yield from _item(session, at or started, line)
    if passed:
        raise OSError(errno.ENODATA, f"{passed} of its calls left out: no line says which session they are of", path)


def _of_one(path: str) -> Iterator[Object]:
    """The lines that one object would have been: the session, and its items."""
    document = one_object(path)
    told = inner(document, "session")
    items = document.get("items")
    yield from (line for line in (told, *(items if isinstance(items, list) else ())) if isinstance(line, dict))


def _item(session: TranscriptSession, at: int, payload: Json) -> Iterator[PastEvent]:
    kind = inner(payload, "type")
    if kind == "message" and inner(payload, "role") == "user":
        yield from session.prompt(at, inner(payload, "content"))
    elif kind in CALLS:
        for identity, tool, given in _calls(payload, str(kind)):
            yield from session.call(at, identity, tool, given)
    elif kind in ("function_call_output", "custom_tool_call_output"):
        output, failed = _result(inner(payload, "output"))
        yield from session.result(at, inner(payload, "call_id"), output, failed=failed)


def _named_folder(payload: Json) -> str:
    """The folder in what Codex told the model about its environment; "" if there is none."""
    found = TOLD_CWD.search(text_in(inner(payload, "content")))
    return (found[1] or found[2]).strip() if found else ""


def _calls(payload: Json, kind: str) -> list[tuple[Json, str, Json]]:
    """The id, the tool and its input. In code mode, `exec` gets JavaScript that calls tools: then those calls whose
    text is known, and the code too if it calls others. The first one has the id, and so the result."""
    identity, code = inner(payload, "call_id"), inner(payload, "input")
    is_code = kind == "custom_tool_call" and inner(payload, "name") == "exec" and isinstance(code, str)
    calls = _in_code(str(code)) if is_code else [_call(payload, kind)]
    return [(f"{identity}.{n}" if n else identity, *call) for n, call in enumerate(calls)]


def _in_code(code: str) -> list[tuple[str, Json]]:
    named = TEXT_NAMED.findall(code)
    often = Counter(name for name, _ in named)
    texts = {name: text for name, text in named if often[name] == 1}
    calls: list[tuple[str, Json]] = []
    is_read = True
    for found in IN_CODE.finditer(code):
        written = found["text"] and texts.get(found["text"], found["text"])
        if written and written[0] in "\"'`":
            calls.append(("Bash" if found["shell"] else "apply_patch", {"command": _text_of(written)}))
        else:
            is_read = is_read and not (written or found["other"])
    return calls if calls and is_read else [*calls, ("exec", {"code": code})]


def _text_of(written: str) -> str:
    """The text that a string in JavaScript stands for."""
    if written[0] == '"':
        with suppress(ValueError):
            return str(json.loads(written, strict=False))
    return SLASHED.sub(lambda sign: {"n": "\n", "t": "\t"}.get(sign[1], sign[1]), written[1:-1])


def _call(payload: Json, kind: str) -> tuple[str, Json]:
    """The tool and its input, as hooks see them."""
    name = str(inner(payload, "name") or "local_shell")
    if kind == "custom_tool_call":
        return name, {"command": inner(payload, "input")}
    given = json_object(inner(payload, "action" if kind == "local_shell_call" else "arguments"))
    if name not in SHELLS:
        return name, given
    line = given.get("cmd", given.get("command"))
    if isinstance(line, list):
        words = [str(word) for word in line]
        line = words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else shlex.join(words)
    return "Bash", {"command": line}


def _result(output: Json) -> tuple[Json, bool]:
    """What a tool printed, and whether it failed. Above the text there are lines about the run: a hook never sees
    them. Older transcripts have the run in a JSON object."""
    if not isinstance(output, str):
        return output, False
    failed = inner(json_object(output), "metadata", "exit_code") not in (None, 0) or NOT_RUN.match(output) is not None
    while (head := ABOUT_RUN.match(output)) is not None:
        failed = failed or any(int(code) != 0 for code in EXIT.findall(head[0]))
        output = output[head.end() :]
    return output, failed


def spent(line: dict[str, Json]) -> SpentTold | None:
    """Now and then a line tells the sum of the session."""
    used = inner(line.get("payload"), "info", "total_token_usage")
    if inner(line.get("payload"), "type") != "token_count" or not isinstance(used, dict):
        return None
    kept = count(used.get("cached_input_tokens"))
    return SpentTold("", max(0.0, count(used.get("input_tokens"), used.get("output_tokens")) - kept))


UNASKED_TOOLS = ("web_search", "write_stdin", "update_plan")
PAST = Past(places, events, ("Command blocked by PreToolUse hook",), UNASKED_TOOLS, tells=("tokens",), spent=spent)
