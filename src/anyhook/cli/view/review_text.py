"""A review as text: each hook with what it runs, where it comes from and what changed. A project's text is escaped for
the terminal."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Iterator, Sequence

from anyhook.cli.view.text import visible
from anyhook.documents.files import Fingerprint
from anyhook.engine.catalog import ALL
from anyhook.gates.review import APPROVED, CHANGED, NEW, REMOVED, Reviewed, differences, only_refuses, own_rules
from anyhook.model.hook import Hook
from anyhook.model.json_types import Json
from anyhook.state.ledger import Ledger

MAX_LINES = 400
"""How many lines of one file's diff are shown; nobody reads more."""
COMPILED = ("condition", "modules")
"""Compiled forms of a rule's matcher, which is shown anyway."""
MAX_BRIEF = 90
"""The longest text about one group of hooks."""
FROM = "from"
"""The label for where something other than a hook is declared."""
MAX_WIDTH = 2000
"""The longest line that is shown."""


def review_lines(entries: Sequence[Reviewed], ledger: Ledger, *, every: bool) -> Iterator[str]:
    """All lines about what there is to approve. Rules of anyhook's own package that come unchanged and can only refuse
    are one line for each status, unless `every` is true."""
    own = {} if every else own_rules()
    alike: dict[str, list[Reviewed]] = {}
    shown: set[str] = set()
    for entry in entries:
        if only_refuses(entry, own):
            alike.setdefault(entry.status, []).append(entry)
            continue
        yield from entry_lines(entry, ledger, shown)
        yield ""
    for status, some in alike.items():
        packs = ", ".join(dict.fromkeys(entry.hook.group for entry in some if entry.hook is not None))
        rules = "1 rule" if len(some) == 1 else f"{len(some)} rules"
        yield (
            f"{status.upper()}  {rules} of anyhook's own packs ({packs}), unchanged: they can only refuse or ask. "
            "`anyhook trust --all` shows each."
        )
        yield ""


def entry_lines(entry: Reviewed, ledger: Ledger, shown: set[str]) -> Iterator[str]:
    """All lines about one thing to approve. `shown` remembers the files whose text was shown for an earlier one."""
    yield from what_it_runs(entry)
    for title, lines in differences(entry, ledger):
        key = f"{title}\n{entry.item.files.get(title, entry.item.definition)}"
        if key in shown:
            yield f"    {visible(title)}: its text is shown above"
        else:
            yield from _bounded(title, lines, entry)
        shown.add(key)


def brief_lines(entries: Sequence[Reviewed], room: int) -> list[str]:
    """What each of them runs, in at most `room` lines: all details, or one line per hook, per event, or per dialect."""
    whole = [line for entry in entries for line in what_it_runs(entry)]
    if len(whole) <= room:
        return whole
    for key in (lambda entry: entry.item.id, _group, lambda entry: _group(entry)[:1]):
        groups: dict[object, list[Reviewed]] = {}
        for entry in entries:
            groups.setdefault(key(entry), []).append(entry)
        if len(groups) <= room:
            break
    return [_group_line(group) for group in groups.values()][:room]


def _group(entry: Reviewed) -> tuple[str, str]:
    return entry.item.id.partition(":")[0], entry.event


def _group_line(group: Sequence[Reviewed]) -> str:
    """One line about hooks that belong together."""
    dialects, events = zip(*(_group(entry) for entry in group), strict=True)
    named = list(dict.fromkeys(event for event in events if event))
    where = ", ".join(named[:3]) + (", …" if len(named) > 3 else "")
    words = list(dict.fromkeys(_does(entry) for entry in group))
    changed = sum(entry.status == CHANGED for entry in group)
    count = f"{len(group)} {'hooks' if group[0].hook is not None else 'of them'}: " if len(group) > 1 else ""
    note = f"  [{changed} changed]" if changed else ""
    return visible(f"{dialects[0]:<10} {where:<18} {count}{_few(words)}{note}")


def _few(words: Sequence[str]) -> str:
    text = ", ".join(words)
    return text if len(text) <= MAX_BRIEF else f"{text[:MAX_BRIEF]}…"


def _does(entry: Reviewed) -> str:
    """What it would do, in a few words."""
    if entry.runs:
        told = " ".join(value for word, value in entry.runs.items() if word != FROM)
        return f"{entry.item.id.partition(':')[2]} ({told or entry.runs.get(FROM, '')})"
    if entry.hook is None:
        return entry.item.id
    first = next((value for key, value in entry.hook.spec.items() if key not in COMPILED and value), entry.hook.name)
    text = " ".join(_value(first).split())
    return text if entry.hook.name in text else f"{entry.hook.name} ({text})"


def what_it_runs(entry: Reviewed) -> Iterator[str]:
    """What it is, when and what it runs, and where it is declared, without the text of its files."""
    yield f"{entry.status.upper()}  {visible(entry.item.id)}"
    if entry.status == REMOVED:
        yield "  was approved and is no longer there"
    elif entry.runs:
        yield f"  {entry.about}"
        for word, value in entry.runs.items():
            yield f"  {visible(word):<8} {_cut(value)}"
    elif entry.hook is None:
        users = ", ".join(entry.overrides) or "none at present"
        which = "all of the user's hooks" if entry.event == ALL else f"the user's hooks of {visible(entry.event)}"
        yield f"  switches {'on' if 'on' in entry.item.definition else 'off'} {which}: {visible(users)}"
    else:
        yield from _facts(entry, entry.hook)
    for path, seen in entry.prints.items():
        yield f"  {_kind(path):<8} {visible(path)}  {_digest(seen)}{_first_line(seen)}"
    for what in entry.item.unpinned:
        yield f"  ALSO     this hook also runs {visible(what)}; that is not pinned"


def _facts(entry: Reviewed, hook: Hook) -> Iterator[str]:
    event = entry.event or "unknown; the executable is asked once it is approved"
    yield f"  event    {visible(event)}"
    if hook.matcher not in (None, "", "*"):
        yield f"  matcher  {_value(hook.matcher)}"
    for key, value in hook.spec.items():
        if key not in COMPILED:
            yield f"  {visible(key):<8} {_value(value)}"
    yield f"  from     {visible(hook.where())}"
    if hook.handler != "rule":
        yield f"  limit    {hook.limit_s:g} s" + (", in the background" if hook.background else "")
    if hook.why:
        yield f"  broken   {visible(hook.why)}"
    if entry.overrides:
        yield f"  takes the place of {visible(', '.join(entry.overrides))}"


def _value(value: Json) -> str:
    if isinstance(value, list) and all(isinstance(word, str) for word in value):
        text = shlex.join([str(word) for word in value])
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _cut(text)


def _cut(text: str) -> str:
    rest = len(text) - MAX_WIDTH
    return visible(text) if rest <= 0 else f"{visible(text[:MAX_WIDTH])} [cut: {rest:,} more characters]"


def _kind(path: str) -> str:
    """What a pinned path stands for: a folder that modules are imported from, some keys of a file, or a file."""
    if path.partition("#")[0].endswith("/"):
        return "modules"
    return "keys" if "#" in os.path.basename(path) else "file"


def _digest(seen: Fingerprint) -> str:
    if seen.digest.startswith("!"):
        return f"cannot be pinned: {seen.digest[1:]}"
    return f"sha256:{seen.digest[:12]}" if seen.digest else "not there"


def _first_line(seen: Fingerprint) -> str:
    if not seen.head.startswith(b"#!"):
        return ""
    line = seen.head[:200].split(b"\n", 1)[0].decode("utf-8", "backslashreplace")
    return f"  {visible(line)}"


def _bounded(title: str, lines: list[str], entry: Reviewed) -> Iterator[str]:
    for line in lines[:MAX_LINES]:
        yield f"    {_cut_line(line)}"
    if len(lines) > MAX_LINES:
        where = title if title in entry.item.files else entry.hook.source if entry.hook else title
        yield f"    [cut: {len(lines) - MAX_LINES:,} more lines; read them in {visible(where)}]"


def _cut_line(line: str) -> str:
    rest = len(line) - MAX_WIDTH
    shown = visible(line[:MAX_WIDTH], keep="\t")
    return shown if rest <= 0 else f"{shown} [cut: {rest:,} more characters in this line]"


def summary(project: str, entries: Sequence[Reviewed], ledger: Ledger) -> str:
    """One line at the end."""
    counts = [(word, sum(entry.status == word for entry in entries)) for word in (NEW, CHANGED, REMOVED, APPROVED)]
    said = ", ".join(f"{count} {word}" for word, count in counts if count)
    approval = ledger.approvals.get(project)
    when = f"; last approved {approval.when}" if approval else ""
    return f"{visible(project)}: {said}{when}"
