"""Generates pages and passages from the dialect tables. `--check` checks that they are current; `--agent NAME` prints
the page of an agent from another package. Every fact comes from the tables, never from another page."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from hosts_page import hosts_pages
from sabotage_page import sabotage_page

from anyhook.extra.testing.conformance.vectors import HERE
from anyhook.extra.testing.kit.form import (
    EVENT_KEYS,
    EXPECT_KEYS,
    FIELDS,
    FILE_KEYS,
    KINDS,
    NAME,
    PLACE_KEYS,
    SWITCH_KEYS,
    TABLE,
    CaseKey,
)
from anyhook.model.codes import CODES, GROUPS
from anyhook.model.event import EVENTS, GATES
from anyhook.tables.cell_names import CAUSES
from anyhook.tables.describe import WORDS, describe
from anyhook.tables.registry import AGENTS, dialect, sample, special
from anyhook.tables.registry import DIALECTS as ALL_DIALECTS
from anyhook.tables.rows import BLOCKING, Dialect, Key, Limits, Reply

DIALECTS = tuple(name for name, _, _ in AGENTS if name in ALL_DIALECTS)
"""The dialects in this package. Other packages have their own pages."""

ROOT = Path(__file__).resolve().parent.parent
NOTE = "<!-- Generated from the tables by docs/generate.py; do not edit. `make docs` rewrites it. -->"
BEGIN, END = "<!-- generated: {} -->", "<!-- end of generated -->"

LAYERING = {
    "concatenate": "All layers count, in this order.",
    "replace_lists": "A later file's list for an event replaces an earlier file's list for that event.",
    "later_name_wins": "A hook in a later layer replaces one with the same name in an earlier layer.",
    "earlier_name_wins": "A hook in an earlier layer hides one with the same name in a later layer.",
}
DOES = {
    **WORDS,
    "block": "block, if true",
    "block_unless": "block, unless true",
    "end_turn": "end the turn, if true",
    "end_turn_unless": "end the turn, if false",
    "reason": "give the reason",
    "note": "say which of the other keys counts, and give its details",
}
EFFECTS = {
    "deny_tool": "the tool does not run",
    "end_turn": "the turn ends",
    "abort": "the session does not start, or the prompt is not sent",
    "keep_working": "the agent continues, with the reason as its next instruction",
    "deny_permission": "the permission is denied",
    "skip": "the compaction is skipped, or the sub-agent does not start",
    "feedback": "the model gets the reason",
    "advisory": "nothing is stopped; the reason is shown",
}


def main(words: list[str]) -> int:
    if words[:1] == ["--agent"]:
        sys.stdout.write(dialect_page(dialect(words[1])))
        return 0
    made = {**pages(), **passages()}
    stale = [path for path, text in made.items() if not path.is_file() or path.read_text(encoding="utf-8") != text]
    if "--check" in words:
        for path in stale:
            sys.stderr.write(f"{path.relative_to(ROOT)} does not match the tables; run `make docs`\n")
        return 1 if stale else 0
    for path in stale:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made[path], encoding="utf-8")
        sys.stdout.write(f"wrote {path.relative_to(ROOT)}\n")
    return 0


ERRORS_HEAD = """# Problems and their codes

When anyhook ignores, breaks or loses something, it reports a problem: a stable code, what happened, where, why, and
what to do. `anyhook check` finds the first four groups without running anything. The others occur while hooks run. The
severity is the one that `check` shows. This page is generated from the table of codes.
"""


def _own_ids() -> dict[str, tuple[str, list[str]]]:
    """Every dialect's own error ids, each with the dialect's title and its causes."""
    found: dict[str, tuple[str, list[str]]] = {}
    for name in ALL_DIALECTS:
        table = dialect(name)
        for cause, code in table.failing.codes.items():
            found.setdefault(code, (table.title, []))[1].append(CAUSES[cause])
    return found


def errors_page() -> str:
    """All problem codes, from the table of codes and the dialects' own error ids."""
    parts = [ERRORS_HEAD]
    for group, title in GROUPS.items():
        parts.append(f"## {title}\n")
        for name, code in CODES.items():
            if code.group == group:
                parts.append(f"### `{name}` ({code.severity})\n\n{code.meaning}\n\n**What to do:** {code.fix}\n")
    parts.append("## Error ids of single dialects\n")
    for name, (title, causes) in sorted(_own_ids().items()):
        parts.append(f"### `{name}` ({title})\n\nIts documentation uses this id when {', or '.join(causes)}.\n")
    return "\n".join(parts)


def pages() -> dict[Path, str]:
    """Generated pages, by path."""
    made = {ROOT / "docs" / "dialects" / f"{name}.md": dialect_page(dialect(name)) for name in DIALECTS}
    made[ROOT / "docs" / "events.md"] = events_page()
    made[ROOT / "docs" / "errors.md"] = errors_page()
    made |= {ROOT / "docs" / path: text for path, text in hosts_pages(NOTE).items()}
    made[ROOT / "docs" / "sabotage.md"] = sabotage_page(NOTE)
    return made


def passages() -> dict[Path, str]:
    """Hand-written pages, with their generated passages filled in."""
    made: dict[Path, str] = {}
    for path, name, passage in (
        (ROOT / "docs" / "systems.md", "dialects", systems()),
        (ROOT / "docs" / "config.md", "settings", all_settings()),
        (ROOT / "docs" / "guide.md", "answers", answers()),
        (ROOT / "docs" / "agent.md", "tools", tool_names()),
        (ROOT / "docs" / "testing.md", "case keys", case_keys()),
    ):
        text = path.read_text(encoding="utf-8")
        before, begin, rest = text.partition(BEGIN.format(name) + "\n")
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise SystemExit(f"{path}: the marks of the passage `{name}` are missing")
        made[path] = f"{before}{begin}{passage}\n{end}{after}"
    return made


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [_row(head), _row("---" for _ in head), *(_row(row) for row in rows)]
    return "\n".join(lines)


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def code(*words: str) -> str:
    return ", ".join(f"`{word}`" for word in words)


def seconds(value: float) -> str:
    return f"{value:g} s"


# One dialect's page.


def dialect_page(table_: Dialect) -> str:
    sections = [
        f"# {table_.title} (`{table_.name}`)",
        NOTE,
        _files(table_),
        _sample(table_),
        _events(table_),
        _payloads(table_),
        *(_answers(kind, reply) for kind, reply in table_.replies.items() if kind != "builtin"),
        _order(table_),
        _limits(table_),
        _failure(table_),
        _trust(table_),
        _settings(table_),
        _differences(table_),
        _evidence(table_),
    ]
    return "\n\n".join(section for section in sections if section) + "\n"


def _files(table_: Dialect) -> str:
    rows = [(scope, f"`{place}`") for scope, place in table_.files]
    parts = ["## Where hooks are declared", table(("scope", "place"), rows), LAYERING[table_.layering]]
    if asked := special(table_.name, "ASK_TYPE"):
        parts.append(f"anyhook asks each executable for its event with the argument `{asked}`, once.")
    if table_.no_host:
        parts.append(table_.no_host)
    if suffix := special(table_.name, "OFF_SUFFIX"):
        parts.append(f"A file whose name ends in `{suffix}` is turned off.")
    return "\n\n".join(parts)


def _sample(table_: Dialect) -> str:
    shown = sample(table_.name)
    parts = ["## A hook that blocks"]
    for path, value in shown.files.items():
        text = value if isinstance(value, str) else json.dumps(value, indent=2)
        kind = "sh" if text.startswith("#!") else path.rpartition(".")[2]
        parts.append(f"`{path}`{' (executable)' if kind == 'sh' else ''}\n\n```{kind}\n{text.rstrip()}\n```")
    words = f"anyhook fire {shown.event} --tool {shown.tool} --input '{json.dumps(dict(shown.input))}'"
    parts.append(f"It refuses this call, once you have approved it with `anyhook trust`:\n\n```sh\n{words}\n```")
    return "\n\n".join(parts)


def _events(table_: Dialect) -> str:
    rows = [
        (
            code(event.native),
            code(*event.canonical),
            code(event.block) if event.block else "cannot block",
            code(event.matched_against) if event.matched_against else "",
            ", ".join(power for power in event.powers if not power.startswith("block")),
        )
        for event in describe(table_).events
    ]
    head = ("event", "canonical", "a block", "a matcher sees", "a hook can also")
    used = dict.fromkeys(row.block for row in table_.events if row.block)
    meanings = "\n".join(f"- `{effect}`: {EFFECTS[effect]}" for effect in used)
    return f"## Events\n\n{table(head, rows)}\n\nWhat a block does:\n\n{meanings}"


def _payloads(table_: Dialect) -> str:
    rows = []
    for row in table_.events:
        keys = [f"`{field.key}`" + (" (if any)" if field.optional else "") for field in row.payload]
        rows.append((code(row.native), ", ".join(keys) or "nothing more"))
    base = code(*(field.key for field in table_.base))
    intro = "One JSON object on stdin." + (f" In every event: {base}." if base else "")
    return f"## What a hook reads\n\n{intro}\n\n{table(('event', 'also'), rows)}"


def _answers(kind: str, reply: Reply) -> str:
    differs = [
        f"On {code(event)}: {_statuses(other)}."
        for event, other in reply.on_event.items()
        if _statuses(other) != _statuses(reply)
    ]
    rows = [
        (f"`{'.'.join(key.path)}`", key.kind, _does(key), code(*key.on) if key.on else "every event")
        for key in reply.keys
    ]
    parts = [
        f"## Answers of `{kind}` hooks",
        " ".join([f"Exit status: {_statuses(reply)}.", *differs]) if kind == "command" else "",
        table(("key", "type", "purpose", "on"), rows),
        "Keys are not case-sensitive." if reply.read(b'{"A": 0}') == ("object", {"a": 0}) else "",
        (reply.mistyped.__doc__ or "") if reply.mistyped else "",
        "A key that the event does not know makes the whole answer invalid." if reply.spoils else "",
        (reply.streams.__doc__ or "") if reply.streams else "",
        "An object counts with any exit status." if reply.speaks_anyway else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _statuses(reply: Reply) -> str:
    named = [f"{status} {_meaning(meaning)}" for status, meaning in reply.exits.items()]
    return "; ".join([*named, f"any other {_meaning(reply.otherwise)}"])


def _meaning(word: str) -> str:
    return {
        "pass": "lets the action go ahead",
        "block": "blocks",
        "fail": "is a failure of the hook",
        "block_if_said": "blocks if the hook gives a reason, and is a failure of the hook otherwise",
    }[word]


def _does(key: Key) -> str:
    if key.does != "verdict":
        return DOES.get(key.does, key.does.replace("_", " "))
    words = []
    for word, verdict, events in key.words:
        where = f" on {code(*events)}" if events else ""
        words.append(f"`{word}`: {'no effect' if verdict == 'none' else verdict}{where}")
    return "; ".join(words)


def _order(table_: Dialect) -> str:
    builtins = [f"`{each.name}` on `{each.native_event}`" for each in table_.builtins]
    order = "sorted by the dialect's rules, such as priority" if table_.sort else "in the order of declaration"
    parts = [
        "## Order and chaining",
        _way(table_, order),
        f"The product has a built-in hook that runs first: {', '.join(builtins)}." if builtins else "",
    ]
    return "\n\n".join(part for part in parts if part)


def _way(table_: Dialect, order: str) -> str:
    """How the hooks of one event run together."""
    last = (
        "After a block the other hooks still run." if table_.together else "The first block skips the remaining hooks."
    )
    if table_.at_once:
        sees = "Hooks for one event start at the same time, each with the original event. Their answers count"
        return f"{sees} {order}. {last}"
    sees = f" A later hook sees the {' and '.join(table_.chains)} that an earlier one rewrote." if table_.chains else ""
    return f"Hooks run one after another, {order}.{sees} {last}"


def _limits(table_: Dialect) -> str:
    rows = [(kind, seconds(limits.default_s), _bounds(limits)) for kind, limits in table_.limits.items()]
    return f"## Time limits\n\n{table(('handler', 'default', 'bounds'), rows)}"


def _bounds(limits: Limits) -> str:
    if not limits.max_s:
        return ""
    return f"{seconds(limits.min_s)} to {seconds(limits.max_s)}"


def _failure(table_: Dialect) -> str:
    text = f'## A broken hook\n\nWith `on_failure = "native"`: {describe(table_).failure}.'
    codes = table_.failing.codes
    if codes:
        rows = [(code(identity), CAUSES[cause]) for cause, identity in codes.items()]
        text += f"\n\n{table(('code', 'cause'), rows)}"
    return text


def _trust(table_: Dialect) -> str:
    gated = "does not run a project's hooks until its path is trusted"
    native = gated if table_.trusted_natively else "runs a project's hooks without asking"
    return (
        "## Trust\n\nWith `--trust ask`, the default, a project's hooks run only after you approve them, in every"
        f" dialect. Its own rule (`--trust native`) {native}."
    )


def _settings(table_: Dialect) -> str:
    if not table_.settings:
        return ""
    return f"## Settings\n\n{settings_rows({table_.name: table_})}\n\nSee [the settings page](../config.md)."


def _differences(table_: Dialect) -> str:
    rows = [(each.row, each.what) for each in table_.differences]
    if not rows:
        return ""
    read = dict.fromkeys(f"{each.version}, {each.source} ({each.date})" for each in table_.differences)
    source = f"The product was read here: {'; '.join(read)}."
    return f"## Known differences from the product\n\n{table(('row', 'difference'), rows)}\n\n{source}"


def _evidence(table_: Dialect) -> str:
    """Every statement that vectors show, with its evidence in brackets; only for agents that are also hosts."""
    file = HERE / "vectors" / table_.name / "rows.json"
    rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    if not any(text.endswith(")") for text in rows.values()):
        return ""
    listed = "\n".join(f"- {row}: {text}" for row, text in rows.items())
    return f"## What this rests on\n\nEach statement has its vectors; its evidence is in brackets.\n\n{listed}"


# Pages and passages about all dialects.


def settings_rows(tables: Mapping[str, Dialect]) -> str:
    rows = [
        (f"`[dialect.{name}]`", code(key), code(*values), code(values[0]))
        for name, table_ in tables.items()
        for key, values in table_.settings.items()
    ]
    return table(("table", "setting", "values", "default"), rows)


def all_settings() -> str:
    return settings_rows({name: dialect(name) for name in DIALECTS})


def tool_names() -> str:
    """The anyhook agent's tools under each dialect's names."""
    tables = {name: dialect(name) for name in DIALECTS}
    hosts = list(dict.fromkeys(tool for table_ in tables.values() for tool in table_.tools))
    return table(
        ("tool", *tables), ((code(tool), *(_native(table_, tool) for table_ in tables.values())) for tool in hosts)
    )


def case_keys() -> str:
    """The keys of case files, by section."""
    fields = CaseKey(" ".join(FIELDS), "anything", "The event's fields with these names.")
    others = [key for key in EVENT_KEYS if key.name not in FIELDS]
    parts = (
        ("of the file", FILE_KEYS),
        ("of a case, or under `defaults`", (others[0], fields, *others[1:], *PLACE_KEYS, *SWITCH_KEYS)),
        ("of a case only", (NAME, TABLE)),
        ("under `expect`", EXPECT_KEYS),
    )
    return "\n\n".join(
        table((f"key {where}", "holds", "says"), ((code(*key.name.split()), _held(key), key.says) for key in keys))
        for where, keys in parts
    )


def _held(key: CaseKey) -> str:
    return code(*key.choices) if key.choices else KINDS[key.kind].says


def _native(table_: Dialect, tool: str) -> str:
    row = table_.tools.get(tool)
    if row is None:
        return "the same"
    fields = ", ".join(f"`{host}` as `{native}`" for host, native in row.inputs.items())
    return code(row.native) + (f": {fields}" if fields else "")


def systems() -> str:
    rows = []
    for name in DIALECTS:
        table_ = dialect(name)
        project = next((place for scope, place in table_.files if scope == "project"), "only the user's")
        broken = describe(table_).failure.partition(" (")[0]
        place = f"`{project.partition(' or ')[0]}`" if "'" not in project else project
        count = str(len(table_.events))
        rows.append((f"[{name}](dialects/{name}.md)", table_.title, place, count, _blocks_by(table_), broken))
    return table(("dialect", "agent", "project hooks", "events", "a hook blocks by", "a broken hook"), rows)


def _blocks_by(table_: Dialect) -> str:
    reply = table_.replies["command"]
    ways = [f"exit {status}" for status, meaning in reply.exits.items() if meaning in BLOCKING]
    others = [reply.otherwise, *(other.otherwise for event, other in reply.on_event.items() if event == "pre_tool")]
    ways += ["any other exit" if 1 in reply.exits else "any exit but 0"] if set(others) & set(BLOCKING) else []
    for key in reply.keys:
        words = [word for word, verdict, events in key.words if verdict == "block" and not events]
        words += ["true"] if key.does == "block" else []
        ways += [f"`{key.path[-1]}: {word}`" for word in words]
    return ", ".join(ways)


ANSWERS = {
    "blocks by": (),
    "gives the reason in": ("reason",),
    "rewrites input, prompt or output with": ("tool_input", "prompt", "tool_output"),
    "adds context with": ("context",),
    "tells the user with": ("messages",),
    "keeps the agent working by": ("follow_ups",),
}
"""The columns of the table of answers, and the effects in each."""


def answers() -> str:
    """What a command hook prints or does for each effect, one row per dialect."""
    rows = []
    for name in DIALECTS:
        table_ = dialect(name)
        reply = table_.replies["command"]
        cells = [_ways(reply, *effects) for effects in ANSWERS.values()]
        cells[0] = _blocks_by(table_)
        keeps = [row.native for row in table_.events if row.block == "keep_working"]
        cells[-1] = ", ".join(filter(None, (f"a block of {code(*keeps)}" if keeps else "", cells[-1])))
        rows.append((f"[{name}](dialects/{name}.md)", *cells))
    return table(("dialect", *ANSWERS), rows)


def _ways(reply: Reply, *effects: str) -> str:
    """How an answer expresses these effects."""
    keys = dict.fromkeys(key.path[-1] for does in effects for key in reply.keys if DOES.get(key.does) == DOES[does])
    says_why = "reason" in effects and "stderr" in reply.exit_reasons and _exit_blocks(reply)
    return ", ".join((["stderr"] if says_why else []) + [code(key) for key in keys])


def _exit_blocks(reply: Reply) -> bool:
    return bool({reply.otherwise, *reply.exits.values()} & set(BLOCKING))


def events_page() -> str:
    names, effects = [], []
    for event in EVENTS:
        rows = [(name, row) for name in DIALECTS for row in dialect(name).events if event in row.canonical]
        names.append((code(event), _grouped((row.native, name) for name, row in rows)))
        does = _grouped((row.block or "cannot block", name) for name, row in rows)
        effects.append((code(event) + (" ●" if event in GATES else ""), does))
    meanings = "\n".join(f"- `{effect}`: {text}" for effect, text in EFFECTS.items())
    sections = [
        "# Events",
        NOTE,
        "You can use an event's canonical name or any dialect's name for it. A name that covers both success and"
        " failure means the failure if a tool error is given.",
        "## Names",
        table(("canonical", "in the dialects"), names),
        "## What a block does",
        meanings,
        table(("canonical", "in the dialects"), effects),
        "● A gate: a block keeps something from happening, so all remaining hooks are skipped, unless its effect is"
        " `advisory` or `feedback`. On other events a block skips only the remaining hooks of its own dialect.",
    ]
    return "\n\n".join(sections) + "\n"


def _grouped(pairs: Iterable[tuple[str, str]]) -> str:
    """Words, and behind each the dialects that use it."""
    users: dict[str, list[str]] = {}
    for word, name in pairs:
        users.setdefault(word, []).append(name)
    return "; ".join(f"{code(word)} ({', '.join(names)})" for word, names in users.items())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
