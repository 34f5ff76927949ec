"""Turned on: the packs and rules of the user that were on and are gone. What a person turned on is remembered when it
is first seen; anything less is said, until a verb (`anyhook remove`) confirms it or it is on again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from anyhook.documents.files import Files
from anyhook.documents.pins import FOLDER
from anyhook.engine.settle import is_gate
from anyhook.gates.gate import UNREADABLE
from anyhook.model.hook import Layer
from anyhook.model.problem import ERROR
from anyhook.rules.pack_list import GUARD, GUARDS
from anyhook.rules.rule_file import PACKS
from anyhook.state.policies import FOLDER as POLICIES
from anyhook.state.policies import INDEX, Policy, base_of_scope
from anyhook.state.switches import Switches


def with_memory(
    layers: Iterable[Layer], packages: Mapping[str, str], policies: Iterable[Policy], env: Mapping[str, str],
    switches: Switches, files: Files,
) -> None:  # fmt: skip
    """Report what is gone from the user's rule files and policies, and remember what is new. `packages` are folders and
    names."""
    own = [layer for layer in layers if layer.source.scope == "user"]
    here = {layer.source.path: _names_in(layer, packages) for layer in own}
    index = f"{base_of_scope('user', env)}/{INDEX}"
    here[index] = {f"{POLICIES}/{policy.name}" for policy in policies if policy.scope == "user"}
    for path, now in here.items():
        _compare(path, now, switches, files)
    why = f"the user's rules are read from {min(layer.source.path for layer in own)}" if own else ""
    for path, names in switches.on.items():
        if path not in here:
            _report(path, names, files, why)


def _compare(path: str, now: set[str], switches: Switches, files: Files) -> None:
    before = switches.on.get(path, ())
    gone = [name for name in before if name not in now and not _told(path, name, files)]
    if gone and not _unknown(path, files):
        _report(path, gone, files)
    if now - {*before} and not switches.problems:
        _remember(switches, path, now)


def _remember(switches: Switches, path: str, now: set[str]) -> None:
    try:
        switches.remember(path, now)
    except OSError:
        pass  # it is on; the next call tries again


def _names_in(layer: Layer, packages: Mapping[str, str]) -> set[str]:
    """What is on in a rule file: the packs that it uses, its packages, and its own name if it has gates of its own."""
    path = layer.source.path
    found = {pack_name(hook.source, path) for hook in layer.hooks if hook.source != path}
    if path.endswith(".toml"):
        beside = f"{os.path.dirname(path)}/{FOLDER}/"
        found |= {f"{FOLDER}/{name}/" for folder, name in packages.items() if folder.startswith(beside)}
    return found | {os.path.basename(path) for hook in layer.hooks if hook.source == path and is_gate(hook)}


def pack_name(pack: str, path: str) -> str:
    """A pack as a rule file names it: a shipped one by its name, any other by its path from there."""
    if os.path.dirname(pack) == PACKS:
        return os.path.basename(pack).removesuffix(".toml")
    return os.path.relpath(pack, os.path.dirname(path))


def _report(path: str, gone: Sequence[str], files: Files, why: str = "") -> None:
    if not gone:
        return
    why = why or ("its file is gone" if files.look(path) is None else "its file no longer has it")
    own = os.path.basename(path)
    named = ", ".join("its own rules" if name == own else name for name in gone)
    files.problem(
        "turned-on-gone",
        f"what was turned on here is gone: {named} ({why})",
        path,
        fix="; ".join(_commands(gone, own)),
        dialect="anyhook",
        scope="user",
    )


def _commands(gone: Sequence[str], own: str) -> Iterator[str]:
    """How each is turned on again, and how its user says that it should be off."""
    if {*GUARDS} <= {*gone}:
        gone = [GUARD, *(name for name in gone if name not in GUARDS)]
    for name in gone:
        parts = name.split("/")
        if parts[0] == POLICIES:
            yield f"Pull the policy again, or say that it should be off: anyhook policy remove {parts[1]}"
            continue
        known = parts[1] if parts[0] == FOLDER and len(parts) > 2 else name
        again = f"`anyhook add {known}` turns it on again" if "/" not in name and name != own else "Put it back"
        yield f"{again}, `anyhook remove {known}` says that it should be off"


def _unknown(path: str, files: Files) -> bool:
    """Whether a file could not be read, which is reported: then it is not known what it has."""
    return any(problem.code in UNREADABLE and problem.where.startswith(path) for problem in files.problems)


def _told(path: str, name: str, files: Files) -> bool:
    """Whether a problem already says why a pack that the file uses has no rules."""
    pack = f"{PACKS}/{name}.toml" if "/" not in name else os.path.normpath(f"{os.path.dirname(path)}/{name}")
    return any(
        problem.severity == ERROR and (f"the pack `{name}`" in problem.what or problem.where.startswith(pack))
        for problem in files.problems
    )
