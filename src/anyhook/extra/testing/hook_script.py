"""The text of a new hook's script, made from its event's row: read the event, decide, answer; and a brief for a model
that writes such a script."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Literal

from anyhook.extra.testing.kit.events import marked, path_of
from anyhook.model import lean_json as json
from anyhook.model.record import Record
from anyhook.tables import spoken
from anyhook.tables.describe import WORDS, describe
from anyhook.tables.registry import special
from anyhook.tables.rows import BLOCKING
from anyhook.tables.spoken import complete, put, reply_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json
    from anyhook.tables.rows import Dialect, EventRow, Key
    from anyhook.tables.spoken import Spoken

Lang = Literal["bash", "python"]

LANGS: tuple[Lang, ...] = ("bash", "python")
MARK = "anyhook-demo-block"
"""The word that a new gate refuses: nobody writes it by accident."""


class Script(Record):
    """What a script is made from."""

    name: str
    dialect: Dialect
    row: EventRow
    compared: tuple[str, ...] = ()
    """The tools that it is for, if the dialect has no matcher for them."""
    log: str = ""
    """The log file, relative to the script's folder."""

    @property
    def gate(self) -> bool:
        """Whether a block of this event stops or changes anything."""
        return self.row.block in EFFECTS

    @property
    def reason(self) -> str:
        return f"{self.name}: refused, because the event holds the word {MARK}"


def text(script: Script, lang: Lang) -> str:
    """The whole script."""
    match lang:
        case "bash":
            return _bash(script)
        case "python":
            return _python(script)


def _keys(script: Script) -> list[str]:
    return [field.key for field in (*script.dialect.base, *script.row.payload)]


def _telling_key(script: Script) -> str:
    """The key that a hook of this event most likely looks at."""
    for field in script.row.payload:
        if field.cell in ("input", "prompt"):
            return field.key
    return (script.row.payload or script.dialect.base)[0].key


def _title(script: Script) -> str:
    return f"{script.name}: a hook of {script.dialect.title} for {script.row.native}."


def _failure_rule(script: Script) -> str:
    reply, failing = spoken.reply_of(script.dialect, script.row.canonical[0]), script.dialect.failing
    if reply.otherwise in BLOCKING:
        late = ", and so does a hook that takes too long" if "timed_out" in failing.blocks else ""
        return f"Note: every other status blocks too, even a crash{late}."
    return "A crash or any other status blocks nothing: it is reported, and the action goes on."


def _decision(script: Script) -> list[str]:
    """What the example decides, as comments."""
    if script.gate:
        effect = EFFECTS[script.row.block or ""]
        return [f"# Decide. This example blocks an event that holds the word {MARK}:", f"# {effect}. The rest passes."]
    why = "A block stops nothing here" if script.row.block else "This event cannot be blocked"
    return [f"# {why}, so this example keeps a record:", f"# one line per event, in {script.log} from its own folder."]


def _tool_keys(script: Script) -> tuple[str, ...]:
    """The keys of the path to the tool's name."""
    row = script.row
    return path_of("‹tool›", marked(script.dialect, row, row.canonical[0])) or ("tool",)


# --- bash


def _bash(script: Script) -> str:
    lines = ["#!/usr/bin/env bash", f"# {_title(script)}", ""]
    if asked := special(script.dialect.name, "ASK_TYPE"):
        lines += [
            f"# Asked with `{asked}`, it says which event it is for.",
            f'if [ "$1" = {asked} ]; then',
            f"    echo {script.row.native}",
            "    exit 0",
            "fi",
            "",
        ]
    key = _telling_key(script)
    lines += [
        "# Read. The event is one JSON object on stdin, with the keys:",
        *(f"#   {row}" for row in _wrapped(_keys(script))),
        "# `case` finds text in it. To take it apart, with jq:",
        f"#   value=$(printf '%s' \"$event\" | jq -r '.{key}')",
        "event=$(cat)",
        "",
    ]
    if script.compared:
        lines += _bash_tools(script)
    decides = _bash_gate(script) if script.gate else _bash_record(script)
    return _ended(script, [*lines, *_decision(script), *decides], _bash_answer, _bash_says, "exit 0")


def _ended(
    script: Script, lines: list[str], answer: Callable[[ExampleAnswer], str], says: Callable[[str], str], end: str
) -> str:
    """A script: what it decides, other answers as comments, and its end."""
    examples = answers(script.dialect, script.row)
    if examples:
        lines += ["", "# What else a hook of this event may answer, on stdout and with status 0:"]
        lines += [f"#   {answer(each)}# {each.does}" for each in examples]
    if script.row.silence:
        said = says(json.dumps(dict(script.row.silence), ensure_ascii=False))
        return "\n".join([*lines, "", "# No objection: this object on stdout, and status 0.", said, end, ""])
    return "\n".join([*lines, "", "# Silence and status 0: no objection.", end, ""])


def _bash_says(text: str) -> str:
    return f"printf '%s\\n' {_quoted(text)}"


def _bash_answer(example: ExampleAnswer) -> str:
    return f"{_bash_says(json.dumps(example.value, ensure_ascii=False))}   "


def _bash_tools(script: Script) -> list[str]:
    key = _tool_keys(script)[-1]
    named = [json.dumps(tool, ensure_ascii=False) for tool in script.compared]
    patterns = ["*" + _quoted(f'"{key}":{blank}{tool}') + "*" for tool in named for blank in (" ", "")]
    return [
        "# There are no matchers here, so the hook itself looks at the tool's name.",
        'case "$event" in',
        f"{' | '.join(patterns)}) ;;",
        "*) exit 0 ;;",
        "esac",
        "",
    ]


def _refused(script: Script) -> Spoken:
    """How the example refuses. A gate has a way to do so."""
    said = spoken.refusal(script.dialect, script.row, script.row.canonical[0], script.reason)
    assert said is not None, f"{script.dialect.name} {script.row.native}"  # noqa: S101
    return said


def _bash_gate(script: Script) -> list[str]:
    said = _refused(script)
    status = said.status
    if status:
        block = [
            f"    # Block: status {status}, and the reason on stderr.",
            f"    # {_failure_rule(script)}",
            f"    printf '%s\\n' {_quoted(script.reason)} >&2",
            f"    exit {status}",
        ]
    else:
        block = [
            "    # Block: this object on stdout, and status 0.",
            f"    # {_failure_rule(script)}",
            f"    printf '%s\\n' {_quoted(said.stdout)}",
            "    exit 0",
        ]
    return ['case "$event" in', f"*{MARK}*)", *block, "    ;;", "esac"]


def _bash_record(script: Script) -> list[str]:
    return ["umask 077", f'printf \'%s\\n\' "$event" >> "${{0%/*}}/{script.log}"']


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _wrapped(words: list[str]) -> list[str]:
    return textwrap.wrap(", ".join(words), 100)


# --- python


def _python(script: Script) -> str:
    modules = ["json", "sys"] if script.gate else ["json", "os", "sys"]
    lines = ["#!/usr/bin/env python3", f'"""{_title(script)}"""', "", *(f"import {name}" for name in modules), ""]
    if asked := special(script.dialect.name, "ASK_TYPE"):
        lines += [
            f"# Asked with `{asked}`, it says which event it is for.",
            f'if sys.argv[1:] == ["{asked}"]:',
            f'    print("{script.row.native}")',
            "    sys.exit(0)",
            "",
        ]
    lines += [
        "# Read. The event is one JSON object on stdin, with the keys:",
        *(f"#   {row}" for row in _wrapped(_keys(script))),
        f'# One of them alone is event["{_telling_key(script)}"].',
        "event = json.load(sys.stdin.buffer)",
        "",
    ]
    if script.compared:
        tool = "".join(f'["{key}"]' for key in _tool_keys(script))
        lines += [
            "# There are no matchers here, so the hook itself looks at the tool's name.",
            f"if event{tool} not in {script.compared!r}:",
            "    sys.exit(0)",
            "",
        ]
    decides = _python_gate(script) if script.gate else _python_record(script)
    return _ended(script, [*lines, *_decision(script), *decides], _python_answer, "print({!r})".format, "sys.exit(0)")


def _python_answer(example: ExampleAnswer) -> str:
    return f"print(json.dumps({example.value!r}))  "


def _python_gate(script: Script) -> list[str]:
    said = _refused(script)
    status = said.status
    lines = [f'if "{MARK}" in json.dumps(event):']
    if status:
        return [
            *lines,
            f"    # Block: status {status}, and the reason on stderr.",
            f"    # {_failure_rule(script)}",
            f'    print("{script.reason}", file=sys.stderr)',
            f"    sys.exit({status})",
        ]
    return [
        *lines,
        "    # Block: this object on stdout, and status 0.",
        f"    # {_failure_rule(script)}",
        f"    print(json.dumps({json.loads(said.stdout)!r}))",
        "    sys.exit(0)",
    ]


def _python_record(script: Script) -> list[str]:
    return [
        "os.umask(0o077)",
        f'log = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{script.log}")',
        'with open(log, "a", encoding="utf-8") as file:',
        '    file.write(json.dumps(event) + "\\n")',
    ]


# --- for a model


def brief(dialect: Dialect) -> str:
    """What you need to know to write a hook of one dialect: its events and their fields, how a hook answers, and one
    complete script in each language."""
    told = describe(dialect)
    lines = [f"# Hooks of {told.title}", "", f"When a hook fails: {told.failure}.", "", "## Events", ""]
    for row, event in zip(dialect.events, told.events, strict=True):
        lines.append(f"- `{row.native}`. stdin: one JSON object with the keys {', '.join(event.payload)}.")
        lines.append(f"  A block: {EFFECTS.get(row.block or '', 'stops nothing')}.")
        if event.matched_against:
            lines.append(f"  The matcher is tried against: {event.matched_against}.")
        lines += [
            f"  May print {json.dumps(each.value, ensure_ascii=False)} to {each.does}."
            for each in answers(dialect, row)
        ]
    if dialect.tools:
        known = ", ".join(sorted({tool.native for tool in dialect.tools.values()}))
        lines += ["", f"Tools are called: {known}."]
    example = _gate(dialect)
    for lang in LANGS:
        shown = text(Script("example", dialect, example), lang)
        lines += ["", f"## A script in {lang}, for {example.native}", "", f"```{lang}", shown.rstrip(), "```"]
    return "\n".join(lines)


def _gate(dialect: Dialect) -> EventRow:
    """The best example event: a tool's gate if there is one."""
    return next((row for row in dialect.events if row.block == "deny_tool"), dialect.events[0])


# -- what hooks of a dialect may answer, from its rows


SAMPLES: dict[str, Json] = {
    "tool_input": {"command": "ls"},
    "tool_output": "another output",
    "prompt": "another prompt",
    "context": "A note for the model.",
    "messages": "A note for the user.",
    "follow_ups": ["Run the tests as well."],
    "end_turn_unless": False,
}
"""Example values, by the field of an Outcome."""

EFFECTS = {
    "deny_tool": "the tool is not run",
    "deny_permission": "the permission is denied",
    "abort": "it goes no further",
    "end_turn": "the turn ends",
    "keep_working": "the agent goes on working, with the reason as its next instruction",
    "skip": "it is skipped",
    "feedback": "the reason goes to the model",
}

GRANTS: dict[str, str] = {"allow": "grant it", "ask": "ask the user"}


class ExampleAnswer(Record):
    """One thing that a hook may print, and what it does."""

    does: str
    value: Json


def answers(dialect: Dialect, row: EventRow) -> list[ExampleAnswer]:
    """What a hook of this event may answer, besides a block and silence."""
    examples: dict[str, Json] = special(dialect.name, "EXAMPLE_ANSWERS") or {}
    found: list[ExampleAnswer] = []
    reply = reply_of(dialect, row.canonical[0])

    def said(key: Key, value: Json) -> dict[str, Json]:
        made: dict[str, Json] = {}
        put(made, key.path, value)
        complete(made, key, reply, row, dialect)
        return made

    for key in reply.keys:
        if not key.counts(*row.canonical):
            continue
        name = ".".join(key.path)
        if name in examples:
            found.append(ExampleAnswer(WORDS.get(key.does, f"use `{name}`"), examples[name]))
        elif key.does in SAMPLES:
            found.append(ExampleAnswer(WORDS[key.does], said(key, SAMPLES[key.does])))
        granting = key.meanings(*row.canonical) if row.block in ("deny_tool", "deny_permission") else []
        found += [ExampleAnswer(GRANTS[verdict], said(key, word)) for word, verdict in granting if verdict in GRANTS]
    if row.silence:  # keys that every answer must have
        found = [each.replace(value={**row.silence, **_object(each.value)}) for each in found]
    spoils = reply.spoils
    return [each for each in found if spoils is None or not spoils(_object(each.value), row.canonical[0])]


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
