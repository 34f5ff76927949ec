"""What a project or the user adds to the agent besides hooks: MCP servers, types of sub-agents, skills. They are found
and pinned by content, like a hook. None of them is started here, and a project's are used only if they are approved."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from anyhook.documents.files import Files, Fingerprint
from anyhook.engine.catalog import covered, loaded_by_command, part_prints, with_interpreters
from anyhook.engine.loads import Reader
from anyhook.gates.review import APPROVED, CHANGED, NEW, Reviewed
from anyhook.model import lean_json
from anyhook.model.json_types import Json
from anyhook.model.problem import Problem
from anyhook.model.record import Record
from anyhook.model.words import OwnScope
from anyhook.platform.places import config_file, lies_in, upward
from anyhook.programs.named import named_files, on_project_path
from anyhook.state.ledger import Item, Ledger
from anyhook.state.plans import Setup
from anyhook.tables.registry import DIALECTS, dialect, special

Kind = Literal["mcp", "subagent", "skill"]
KINDS: tuple[Kind, ...] = ("mcp", "subagent", "skill")
"""The prefixes of their ids in the ledger. (A hook's id starts with its dialect.)"""
ABOUT: dict[Kind, str] = {
    "mcp": "an MCP server: the agent starts or calls it, and its tools can be used",
    "subagent": "a type of sub-agent: its instructions reach the model",
    "skill": "a skill: its instructions reach the model, which may run its scripts",
}
SERVERS_FILE = ".mcp.json"
OWN = ".anyhook"
MAX_FILES = 500
"""Per skill. A folder with more is not pinned, so it cannot be approved."""


class Offer(Record):
    """One thing that the agent could use."""

    kind: Kind
    name: str
    scope: OwnScope
    folder: str
    """The project folder that declares it, and that its approval is for."""
    source: str
    dialect: str = ""
    """The dialect of its tool names; "" for our own names."""
    spec: dict[str, Json] = {}  # noqa: RUF012 (never changed)
    """The settings of a server, as written."""

    @property
    def id(self) -> str:
        return f"{self.kind}:{self.name}"


def find_offers(setup: Setup, servers: Mapping[str, dict[str, Json]]) -> tuple[list[Offer], list[Problem]]:
    """Everything of the project, then of the user (whose servers are in the settings). The first of a name wins."""
    files = Files()
    found = [*_servers(setup, files), *_folders(setup, "subagent"), *_folders(setup, "skill")]
    mine = config_file(setup.env)
    found += [Offer("mcp", name, "user", setup.project, mine, spec=spec) for name, spec in servers.items()]
    return found, files.problems


def _servers(setup: Setup, files: Files) -> Iterator[Offer]:
    folder = next((each for each in upward(setup.project, setup.outer) if _is_there(each, SERVERS_FILE)), None)
    if folder is None:
        return
    path = os.path.join(folder, SERVERS_FILE)
    document = files.document(path, "json")
    declared = document.get("mcpServers") if isinstance(document, dict) else None
    if document is not None and not isinstance(declared, dict):
        files.problem("wrong-type", "`mcpServers` must be an object", path, "", 'Write {"mcpServers": {…}}.')
    for name, spec in declared.items() if isinstance(declared, dict) else ():
        if isinstance(spec, dict) and isinstance(spec.get("command") or spec.get("url"), str):
            yield Offer("mcp", name, "project", folder, path, spec=spec)
        else:
            files.problem(
                "missing-key", f"the MCP server `{name}` has neither a command nor a URL", path, "", "Add one."
            )


def folders_of(name: str, kind: str) -> tuple[str, ...]:
    """A product's folders with its sub-agents, skills or recipes; `{project}` or `{home}` comes first."""
    found: dict[str, tuple[str, ...]] = {} if dialect(name).broken else special(name, "OFFERED") or {}
    return found.get(kind, ())


def _folders(setup: Setup, kind: Kind) -> Iterator[Offer]:
    """Files or folders in the places where our own agent and other products look for them."""
    word = "agents" if kind == "subagent" else "skills"
    home = os.path.realpath(setup.env.get("HOME") or "/")
    rows = {f"{{project}}/{OWN}/{word}": "", f"{Path(config_file(setup.env)).parent}/{word}": ""}
    for name in DIALECTS:
        for row in folders_of(name, kind):
            rows.setdefault(row, name)
    near = {row: name for row, name in rows.items() if "{project}" in row}
    for folder in upward(setup.project, setup.outer):  # the nearest that has any, as for hooks
        if any(_is_there(row.replace("{project}", folder), "") for row in near):
            for row, name in near.items():
                yield from _in_folder(kind, row.replace("{project}", folder), "project", folder, name)
            break
    for row, name in rows.items():
        if row not in near:
            place = row.replace("{home}", home)
            inside = lies_in(place, setup.project) and not lies_in(home, setup.project)
            yield from _in_folder(kind, place, "project" if inside else "user", setup.project, name)


def _in_folder(kind: Kind, place: str, scope: OwnScope, folder: str, table: str) -> Iterator[Offer]:
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names:
        path = os.path.join(place, name)
        if kind == "subagent" and name.endswith(".md"):
            yield Offer(kind, name.removesuffix(".md"), scope, folder, path, table)
        elif kind == "skill" and _is_there(path, "SKILL.md"):
            yield Offer(kind, name, scope, folder, os.path.join(path, "SKILL.md"), table)


def _is_there(folder: str, name: str) -> bool:
    return os.path.exists(os.path.join(folder, name))


# -- approval


def trusted(offers: list[Offer], setup: Setup, ledger: Ledger) -> tuple[list[Offer], list[Offer]]:
    """What may be used, and what waits for approval."""
    usable: list[Offer] = []
    waiting: list[Offer] = []
    for offer in offers:
        if offer.scope == "user" or setup.trust == "all":
            usable.append(offer)
        elif setup.trust != "none":
            known = ledger.known(offer.folder, offer.id)
            (usable if known and covered(known, _pinned(offer, setup)[0]) else waiting).append(offer)
    return usable, waiting


def review_offers(setup: Setup, ledger: Ledger) -> tuple[list[Reviewed], list[Problem], dict[str, str]]:
    """The project's, for `trust`; and by kind, the parent folder in which they were found."""
    offers, problems = find_offers(setup, {})
    entries: list[Reviewed] = []
    for offer in offers:
        if offer.scope != "project":
            continue
        item, prints = _pinned(offer, setup)
        known = ledger.known(offer.folder, offer.id)
        status = NEW if not known else APPROVED if covered(known, item) else CHANGED
        above = "" if offer.folder == setup.project else offer.folder
        entry = Reviewed(item, status, "", None, prints=prints, before=known[0] if known else None, project=above)
        entries.append(entry.replace(runs=_shown(offer), about=ABOUT[offer.kind]))
    return entries, problems, {offer.kind: offer.folder for offer in offers if offer.scope == "project"}


def _shown(offer: Offer) -> dict[str, str]:
    told = {key: value if isinstance(value, str) else lean_json.dumps(value) for key, value in offer.spec.items()}
    return {**told, "from": offer.source}


def _pinned(offer: Offer, setup: Setup) -> tuple[Item, dict[str, Fingerprint]]:
    """What an approval pins: the settings of a server and the files of the project that it names; all files of a
    skill; the file of a sub-agent."""
    files, roots, unpinned = Files(), setup.roots(()).replace(project=offer.folder), tuple[str, ...]()
    if offer.kind == "mcp":
        args = offer.spec.get("args")
        words = [str(offer.spec.get("command") or ""), *map(str, args if isinstance(args, list) else [])]
        loads = loaded_by_command(words, offer.folder, Reader(roots, files, roots.env))
        waiting = [
            *named_files(words, offer.folder, roots.home, {}, files),
            *on_project_path(words, roots.env.get("PATH", ""), offer.folder, files),
            *loads.files,
        ]
        prints, unpinned = {**with_interpreters(waiting, roots, files), **part_prints(loads)}, loads.unknown
    else:
        paths = [offer.source] if offer.kind == "subagent" else _below(os.path.dirname(offer.source))
        prints = {path: files.fingerprint(path) for path in paths}
    definition = lean_json.dumps(offer.spec) if offer.kind == "mcp" else offer.name
    digests = {path: seen.digest for path, seen in prints.items()}
    if len(digests) > MAX_FILES:
        digests[offer.source] = f"!more than {MAX_FILES} files"
    return Item(offer.id, definition, digests, unpinned=unpinned), prints


def _below(folder: str) -> list[str]:
    found: list[str] = []
    for here, folders, names in os.walk(folder):
        folders.sort()
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]  # which cannot be pinned
        found.extend(os.path.join(here, name) for name in sorted([*names, *links]))
        if len(found) > MAX_FILES:
            break
    return found
