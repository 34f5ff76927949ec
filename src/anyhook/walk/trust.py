"""Trust: which hooks of a project may run. It fingerprints what would run and compares it with the ledger."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.documents.places import upward
from anyhook.model.hook import CHANGED, DISABLED, UNTRUSTED, Hook, Layer
from anyhook.shell.named import is_stream, named_files, on_project_path, within
from anyhook.state.ledger import Item

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from anyhook.documents.files import Files, Fingerprint
    from anyhook.model.json_types import Json
    from anyhook.model.words import Trust
    from anyhook.state.ledger import Ledger
    from anyhook.tables.rows import Dialect, Roots

LAUNCHERS = ("bash", "env", "python3", "sh")
"""Programs that a dialect or a shebang puts before a script, and that the declaration does not name."""


def pin(hook: Hook, dialect: Dialect, roots: Roots, files: Files) -> Item:
    """What an approval of this hook covers: its declaration, and the bytes of the files it names."""
    prints = fingerprints(hook, dialect, roots, files)
    return Item(hook.id, hook.definition, {path: seen.digest for path, seen in prints.items()})


def fingerprints(hook: Hook, dialect: Dialect, roots: Roots, files: Files) -> dict[str, Fingerprint]:
    """The files that decide what this hook does, each read once: those its declaration names, programs that PATH finds
    in the project, and the interpreters that first lines name."""
    words = [*_texts(list(hook.spec.values())), *LAUNCHERS]
    waiting = [
        *dialect.names(hook, files, roots.project, roots.home),
        *on_project_path(words, roots.env.get("PATH", ""), roots.project, files),
    ]
    return with_interpreters(waiting, roots, files)


def with_interpreters(waiting: list[str], roots: Roots, files: Files) -> dict[str, Fingerprint]:
    """The fingerprints of these files, and of the interpreters that their first lines name."""
    found: dict[str, Fingerprint] = {}
    for path in waiting:  # grows while it is walked
        if path in found or is_stream(path):
            continue
        seen = files.fingerprint(path)
        # A compiled program outside the project belongs to the system, and changes with its updates.
        if seen.binary and not within(path, roots.project) and not within(files.real_path(path), roots.project):
            continue
        found[path] = seen
        waiting.extend(_interpreters(seen, roots, files))
    return found


def _interpreters(seen: Fingerprint, roots: Roots, files: Files) -> list[str]:
    if not seen.head.startswith(b"#!"):
        return []
    words = seen.head[2:4096].split(b"\n", 1)[0].decode("utf-8", "surrogateescape").split()
    named = named_files(words, roots.project, roots.home, {}, files)
    return [*named, *on_project_path(words, roots.env.get("PATH", ""), roots.project, files)]


def _texts(values: list[Json]) -> list[str]:
    found: list[str] = []
    for value in values:
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, list):
            found.extend(_texts(value))
    return found


def gated(layer: Layer, roots: Roots, files: Files) -> bool:
    """Whether a layer needs approval: the project's own, and one that is nominally the user's but is inside the
    project. (An environment file of the project can say that the user's folders are there.) A project that contains the
    home folder may contain the user's folders. A folder that the caller names needs no approval."""
    source = layer.source
    if source.scope == "project":
        return True
    if source.scope != "user" or (roots.state_dir and within(source.path, roots.state_dir)):
        return False
    return files.lies_in(source.path, roots.project) and not files.lies_in(roots.home, roots.project)


ALL = "*"
SWITCHING = ("[]", '"off"', '"on"')
"""The definitions of settings with which a project affects the user's hooks without declaring a hook."""


def switches(layer: Layer) -> dict[str, Item]:
    """How a project affects the user's hooks without declaring a hook, by event (`ALL` for all of them): an empty list
    that replaces theirs, or a word that turns them off or on. This needs approval as well."""
    source = layer.source
    listed = {hook.native_event for hook in layer.hooks}
    owner = f"{source.dialect}:{source.scope}"
    found = {event: Item(f"{owner}:{event}:[]", "[]", {}) for event in layer.replaces if event not in listed}
    if layer.all_off is not None:
        owner = f"{owner}:{source.label}" if source.label else owner
        found[ALL] = Item(f"{owner}:{ALL}", '"off"' if layer.all_off else '"on"', {})
    return found


def trust(
    dialect: Dialect, layers: Sequence[Layer], mode: Trust, ledger: Ledger, roots: Roots, files: Files
) -> list[Layer]:
    """The layers, with every untrusted hook of the project marked."""
    return [
        _judge(dialect, layer, mode, ledger, roots, files) if gated(layer, roots, files) else layer for layer in layers
    ]


def _judge(dialect: Dialect, layer: Layer, mode: Trust, ledger: Ledger, roots: Roots, files: Files) -> Layer:
    if mode == "all" or (mode == "native" and not dialect.gated_natively):
        return layer
    if mode == "native" and _path_trusted(dialect, ledger, roots, files):
        return layer
    if mode != "ask":
        why = "--trust none" if mode == "none" else "the dialect trusts projects by path, and this one is not trusted"
        hooks = tuple(_mark(hook, UNTRUSTED, why) for hook in layer.hooks)
        return layer.replace(hooks=hooks, replaces=(), all_off=None)
    marked: list[Hook] = []
    waiting: set[str] = set()
    for hook in layer.hooks:
        known = [] if hook.status == DISABLED else ledger.known(roots.project, hook.id, files.look)
        if hook.status == DISABLED or (known and covered(known, pin(hook, dialect, roots, files))):
            marked.append(hook)
            continue
        waiting.add(hook.native_event)
        marked.append(
            _mark(hook, UNTRUSTED, "not approved yet; see `anyhook trust`")
            if not known
            else _mark(hook, CHANGED, "changed since it was approved; see `anyhook trust`")
        )
    for event, item in switches(layer).items():
        if not covered(ledger.known(roots.project, item.id, files.look), item):
            waiting.add(event)
    return layer.replace(
        hooks=tuple(marked),
        replaces=tuple(event for event in layer.replaces if event not in waiting),
        all_off=None if ALL in waiting else layer.all_off,
    )


def covered(known: Sequence[Item], item: Item) -> bool:
    """Whether one of these approvals covers exactly this."""
    return any(approved.same_as(item) for approved in known)


def _path_trusted(dialect: Dialect, ledger: Ledger, roots: Roots, files: Files) -> bool:
    listed = dialect.trusted_natively(roots, files) if dialect.trusted_natively else frozenset()
    return ledger.approves_hooks(roots.project) or roots.project in {os.path.realpath(path) for path in listed}


def _mark(hook: Hook, status: str, why: str) -> Hook:
    return hook.replace(status=status, why=why) if hook.status != DISABLED else hook


def folders_of(
    layers: Mapping[str, Sequence[Layer]], found: Mapping[str, str], roots: Roots, ledger: Ledger, files: Files
) -> dict[str, str]:
    """The folders above the project, by dialect, including those whose files are gone: if nothing is declared any more,
    what was approved for the nearest folder upwards is missing there."""
    folders = dict(found)
    for name, each in layers.items():
        if name in folders or any(layer.hooks for layer in each if gated(layer, roots, files)):
            continue
        for folder in upward(roots.project, roots.outer or roots.project):
            if any(key.startswith(f"{name}:") for key in ledger.items(folder)):
                if folder != roots.project:
                    folders[name] = folder
                break
    return folders


def gone(
    layers: Mapping[str, Sequence[Layer]], ledger: Ledger, roots: Roots, found: Mapping[str, str], files: Files
) -> tuple[Hook, ...]:
    """The hooks that were approved for the project and are no longer declared, as their approvals describe them.
    `found` are the folders above whose files count, by dialect."""
    if not ledger.approvals:
        return ()
    there = {hook.id for each in layers.values() for layer in each for hook in layer.hooks}
    there.update(item.id for each in layers.values() for layer in each for item in switches(layer).values())
    folders = folders_of(layers, found, roots, ledger, files)
    return tuple(
        _remembered(item, name, roots.replace(project=folders.get(name, roots.project)))
        for name in layers
        for item in ledger.items(folders.get(name, roots.project)).values()
        if item.id.partition(":")[0] == name and item.id not in there and item.definition not in SWITCHING
    )


def _remembered(item: Item, name: str, roots: Roots) -> Hook:
    """A hook rebuilt from its approval. If the approval does not name the event, it may be for any event."""
    from anyhook.model import lean_json
    from anyhook.tables.registry import dialect

    try:
        told = lean_json.loads(item.definition)
    except (ValueError, RecursionError):
        told = None
    told = told if isinstance(told, dict) else {}
    row = dialect(name).row(str(told.get("event") or told.get("trigger") or ""))
    return Hook(
        id=item.id,
        name=item.id.rpartition(":")[2],
        dialect=name,
        scope="project",
        source=next(iter(item.files), roots.project),
        place=(),
        root=roots.project,
        label="",
        native_event=row.native if row else "",
        events=row.canonical if row else (),
        matcher=told.get("matcher"),
        handler="",
        spec={},
        limit_s=0.0,
        definition=item.definition,
        status=CHANGED,
        why="it was approved, and is no longer declared; see `anyhook trust`",
    )
