"""Review: what in a project needs approval, and how it differs from what was approved. Every file is read once, so a
person approves exactly what was shown. It starts nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from difflib import unified_diff

from anyhook.documents.files import Files, Fingerprint
from anyhook.engine.catalog import ALL, gated, pinned, switches
from anyhook.model.hook import ARMED, Hook, Layer
from anyhook.model.json_types import Json
from anyhook.model.record import Record
from anyhook.model.words import never
from anyhook.rules.pack_list import NAMES, path_of, read_pack
from anyhook.state.ledger import Item, Ledger
from anyhook.tables.isolation import one_file
from anyhook.tables.rows import Dialect, Roots

NEW, CHANGED, APPROVED, REMOVED = "new", "changed", "approved", "removed"
CAN_REFUSE = ("deny", "ask")
"""What a rule that can only refuse says."""
MEANS = "means"
"""The key of a definition with what the others mean, for programs."""
COMPARED_LINES = 6000
"""Longer texts are not compared line by line: a hostile pair could take hours."""


class Reviewed(Record):
    """One thing to approve, as it is on disk now."""

    item: Item
    status: str
    event: str
    """The dialect's own name; "" if an executable has not been asked."""
    hook: Hook | None
    """None for an empty list, for a case file, and for a hook that is gone."""
    overrides: tuple[str, ...] = ()
    """The user's hooks that stop running once this is approved."""
    prints: Mapping[str, Fingerprint] = {}
    before: Item | None = None
    runs: Mapping[str, str] = {}
    """For something other than a hook: what it would run, word by word."""
    about: str = ""
    """For something other than a hook: what it is."""
    project: str = ""
    """The folder that the approval belongs to, if it is above the one asked about."""


def own_rules() -> dict[tuple[str, str], Mapping[str, Json]]:
    """The rules in the packs of anyhook's own package, as they are written there, by file and name."""
    return {(path_of(pack), str(rule["name"])): rule for pack in NAMES for rule in read_pack(pack).rules}


def only_refuses(entry: Reviewed, own: Mapping[tuple[str, str], Mapping[str, Json]]) -> bool:
    """Whether it is a rule of anyhook's own package, with nothing relaxed, that can only refuse or ask."""
    hook = entry.hook
    if hook is None or hook.handler != "rule" or hook.status != ARMED or hook.spec.get("then") not in CAN_REFUSE:
        return False
    if entry.overrides or entry.item.files or entry.item.unpinned:
        return False
    return bool(json.loads(hook.definition)["rule"] == own.get((hook.source, hook.name)))


def review(
    tables: Sequence[tuple[Dialect, Sequence[Layer]]],
    ledger: Ledger,
    found_roots: Roots,
    files: Files,
    folders: Mapping[str, str] = {},
) -> list[Reviewed]:
    """Everything that needs approval, in the order of the catalog; then what was approved and no longer exists.
    `folders` are the projects of dialects whose files were found in a folder above."""
    entries: list[Reviewed] = []
    gone: list[Reviewed] = []
    for table, layers in tables:
        above = folders.get(table.name, "")
        roots = found_roots.replace(project=above) if above else found_roots
        approved, first = ledger.items(roots.project), len(entries)
        for layer in layers:
            with one_file(files, layer.source):  # what cannot be shown is not approved either
                others = [each for each in layers if not gated(each, roots, files)]
                found = list(_entries(table, layer, others, roots, files)) if gated(layer, roots, files) else []
                entries.extend(
                    _compared(entry.replace(project=above), ledger.known(roots.project, entry.item.id))
                    for entry in found
                )
        there = {entry.item.id for entry in entries[first:]}
        for key, item in approved.items():
            if key not in there and key.partition(":")[0] == table.name:
                gone.append(Reviewed(item, REMOVED, "", None, before=item, project=above))
    return [*entries, *gone]


def _entries(table: Dialect, layer: Layer, others: Sequence[Layer], roots: Roots, files: Files) -> Iterator[Reviewed]:
    theirs = [hook for each in others for hook in each.hooks]
    for hook in layer.hooks:
        if hook.status == "disabled":
            continue
        item, prints = pinned(hook, table, roots, files)
        match table.layering:
            case "concatenate":
                overridden = []
            case "replace_lists":
                overridden = [each.id for each in theirs if each.native_event == hook.native_event]
            case "later_name_wins" | "earlier_name_wins":
                overridden = [each.id for each in theirs if each.name == hook.name]
            case _:
                never(table.layering)
        yield Reviewed(item, NEW, hook.native_event, hook, tuple(overridden), prints)
    for event, item in switches(layer).items():
        yield Reviewed(item, NEW, event, None, tuple(each.id for each in theirs if event in (each.native_event, ALL)))


def _compared(entry: Reviewed, known: Sequence[Item]) -> Reviewed:
    if not known:
        return entry
    same = next((approved for approved in known if approved.same_as(entry.item)), None)
    if same is None and entry.item.unpinned and all(approved.afar for approved in known):
        return entry  # approved in another clone; whether all of it is the same here is not known
    return entry.replace(status=CHANGED if same is None else APPROVED, before=same or known[0])


def contents(entries: Sequence[Reviewed]) -> dict[str, bytes]:
    """The bytes of the approved files that were kept whole, by digest."""
    prints = [seen for entry in entries for seen in entry.prints.values()]
    return {seen.digest: seen.head for seen in prints if seen.digest and seen.size == len(seen.head)}


def differences(entry: Reviewed, ledger: Ledger) -> Iterator[tuple[str, list[str]]]:
    """What is new or changed, part by part: a title (`definition` or a file's path) and the lines of a unified diff."""
    before = entry.before
    if before is not None and before.definition != entry.item.definition:
        old, new = before.definition, entry.item.definition
        said = _unified(_pretty(old, without=MEANS), _pretty(new, without=MEANS), "definition")
        yield "definition", said or _unified(_pretty(old), _pretty(new), "definition")
    elif entry.status == REMOVED and before is not None:
        yield "definition", _unified(_pretty(before.definition), [], "definition")
    known = before.files if before is not None else {}
    for path in sorted({*known, *entry.item.files}) if entry.status in (NEW, CHANGED) else ():
        old, new = known.get(path, ""), entry.item.files.get(path, "")
        if old != new:
            yield path, _file_lines(path, old, entry.prints.get(path), ledger)


def _file_lines(path: str, old: str, now: Fingerprint | None, ledger: Ledger) -> list[str]:
    kept = ledger.copy(old) if old else b""
    notes: list[str] = []
    if now is not None and now.digest.startswith("!"):
        return [f"! {now.digest[1:]}, so it cannot be pinned"]
    if now is None or not now.digest:
        notes.append("! this file is gone" if old else "! there is no such file")
    elif now.binary:
        return [f"! a binary of {now.size:,} bytes" + (", other than the approved one" if old else "")]
    elif now.size > len(now.head):
        notes.append(f"! only the first {len(now.head):,} of {now.size:,} bytes are shown; look into the file itself")
    if kept is None:
        notes.append("! the approved text was not kept, so all of the text of today is shown")
    text = now.head if now is not None else b""
    return [*notes, *_unified(_lines(kept or b""), _lines(text), path)]


def _lines(data: bytes) -> list[str]:
    """Split at line feeds only: no other character may end a line that looks like one line to a person."""
    return data.decode("utf-8", "backslashreplace").removesuffix("\n").split("\n") if data else []


def _pretty(definition: str, *, without: str = "") -> list[str]:
    try:
        found = json.loads(definition)
        shown = {key: value for key, value in found.items() if key != without} if isinstance(found, dict) else found
        return json.dumps(shown, indent=2, sort_keys=True, ensure_ascii=False).split("\n")
    except ValueError:
        return definition.split("\n")


def _unified(old: list[str], new: list[str], name: str) -> list[str]:
    if old == new:
        return []
    if max(len(old), len(new)) > COMPARED_LINES:
        return ["! too long to be compared line by line; all of it as it is now", *(f"+{line}" for line in new)]
    before = f"approved {name}" if old else "(nothing)"
    return list(unified_diff(old, new, before, f"now      {name}" if new else "(nothing)", lineterm=""))
