"""The text of a new hook's script, made from its event's row: read the event, decide, answer; and a brief for a model
that writes such a script."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Literal

from anyhook.extra.testing.kit.events import marked, path_of
from anyhook.model import lean_json as json
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.tables import spoken
from anyhook.tables.describe import WORDS, describe
from anyhook.tables.registry import special
from anyhook.tables.rows import BLOCKING, Dialect, EventRow, Key
from anyhook.tables.spoken import complete, put, reply_of

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


class Language(Record):
    """What a script in one language says. Texts have places in braces."""

    head: str
    asked: str
    read: str
    tools: str
    gate: str
    record: str
    exits: str
    fails: Callable[[str], str]
    """Prints a text on stderr."""
    says: Callable[[Json], str]
    """Prints JSON on stdout."""
    one_of: Callable[[tuple[str, ...], tuple[str, ...]], dict[str, str]]
    """What fills `tools`: from the path of the tool's name, and the tools."""


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\"'\"'") + "'"


def _patterns(path: tuple[str, ...], tools: tuple[str, ...]) -> dict[str, str]:
    named = [json.dumps(tool, ensure_ascii=False) for tool in tools]
    patterns = ["*" + _quoted(f'"{path[-1]}":{blank}{tool}') + "*" for tool in named for blank in (" ", "")]
    return {"tools": " | ".join(patterns)}


SCRIPT_LANGUAGES: dict[Lang, Language] = {
    "bash": Language(
        head="#!/usr/bin/env bash\n# {title}\n",
        asked='if [ "$1" = {flag} ]; then\n    echo {event}\n    exit 0\nfi\n',
        read="# `case` finds text in it. To take it apart, with jq:\n"
        "#   value=$(printf '%s' \"$event\" | jq -r '.{key}')\nevent=$(cat)\n",
        tools='case "$event" in\n{tools}) ;;\n*) exit 0 ;;\nesac\n',
        gate='case "$event" in\n*{mark}*)\n{block}\n    ;;\nesac',
        record='umask 077\nprintf \'%s\\n\' "$event" >> "${{0%/*}}/{log}"',
        exits="exit {status}",
        fails=lambda text: f"printf '%s\\n' {_quoted(text)} >&2",
        says=lambda value: f"printf '%s\\n' {_quoted(json.dumps(value, ensure_ascii=False))}",
        one_of=_patterns,
    ),
    "python": Language(
        head='#!/usr/bin/env python3\n"""{title}"""\n\nimport json\n{more}import sys\n',
        asked='if sys.argv[1:] == ["{flag}"]:\n    print("{event}")\n    sys.exit(0)\n',
        read='# One of them alone is event["{key}"].\nevent = json.load(sys.stdin.buffer)\n',
        tools="if event{path} not in {tools}:\n    sys.exit(0)\n",
        gate='if "{mark}" in json.dumps(event):\n{block}',
        record='os.umask(0o077)\nlog = os.path.join(os.path.dirname(os.path.abspath(__file__)), "{log}")\n'
        'with open(log, "a", encoding="utf-8") as file:\n    file.write(json.dumps(event) + "\\n")',
        exits="sys.exit({status})",
        fails=lambda text: f'print("{text}", file=sys.stderr)',
        says=lambda value: f"print(json.dumps({value!r}))",
        one_of=lambda path, tools: {"path": "".join(f'["{key}"]' for key in path), "tools": repr(tools)},
    ),
}


def text(script: Script, lang: Lang) -> str:
    """The whole script."""
    language, dialect, row = SCRIPT_LANGUAGES[lang], script.dialect, script.row
    title = f"{script.name}: a hook of {dialect.title} for {row.native}."
    lines = [language.head.format(title=title, more="" if script.gate else "import os\n")]
    if asked := special(dialect.name, "ASK_TYPE"):
        lines += [f"# Asked with `{asked}`, it says which event it is for."]
        lines += [language.asked.format(flag=asked, event=row.native)]
    keys = ", ".join(field.key for field in (*dialect.base, *row.payload))
    lines += ["# Read. The event is one JSON object on stdin, with the keys:"]
    lines += [f"#   {words}" for words in textwrap.wrap(keys, 100)]
    lines += [language.read.format(key=_telling_key(script))]
    if script.compared:
        path = path_of("‹tool›", marked(dialect, row, row.canonical[0])) or ("tool",)
        lines += ["# There are no matchers here, so the hook itself looks at the tool's name."]
        lines += [language.tools.format(**language.one_of(path, script.compared))]
    lines += _decision(script)
    lines += [_gate(script, language) if script.gate else language.record.format(log=script.log)]
    if examples := answers(dialect, row):
        lines += ["", "# What else a hook of this event may answer, on stdout and with status 0:"]
        lines += [f"#   {language.says(each.value)}  # {each.does}" for each in examples]
    lines += ["", "# Silence and status 0: no objection."]
    if row.silence:
        lines[-1:] = ["# No objection: this object on stdout, and status 0.", language.says(dict(row.silence))]
    return "\n".join([*lines, language.exits.format(status=0), ""])


def _gate(script: Script, language: Language) -> str:
    """How the example refuses. A gate has a way to do so."""
    said = spoken.refusal(script.dialect, script.row, script.row.canonical[0], script.reason)
    assert said is not None, f"{script.dialect.name} {script.row.native}"  # noqa: S101
    if said.status:
        how, line = f"status {said.status}, and the reason on stderr", language.fails(script.reason)
    else:
        how, line = "this object on stdout, and status 0", language.says(json.loads(said.stdout))
    block = [f"# Block: {how}.", f"# {_failure_rule(script)}", line, language.exits.format(status=said.status)]
    return language.gate.format(mark=MARK, block=textwrap.indent("\n".join(block), "    "))


def _telling_key(script: Script) -> str:
    """The key that a hook of this event most likely looks at."""
    for field in script.row.payload:
        if field.cell in ("input", "prompt"):
            return field.key
    return (script.row.payload or script.dialect.base)[0].key


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
    example = next((row for row in dialect.events if row.block == "deny_tool"), dialect.events[0])
    for lang in LANGS:
        shown = text(Script("example", dialect, example), lang)
        lines += ["", f"## A script in {lang}, for {example.native}", "", f"```{lang}", shown.rstrip(), "```"]
    return "\n".join(lines)


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
