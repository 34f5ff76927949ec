"""The catalog of a project and its user: discover where hooks may be declared, load each source, compare it with what
was approved, and put all layers in order."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from anyhook.documents.budget import Budget, TooLarge
from anyhook.documents.files import Files, Fingerprint
from anyhook.documents.managed import SCOPE, managed_dir
from anyhook.documents.pins import FOLDER, packages_in
from anyhook.engine.loads import Loads, Reader
from anyhook.engine.match import Catalog
from anyhook.gates.diagnosis import entry_faults
from anyhook.install.used_packs import rule_file
from anyhook.model import lean_json
from anyhook.model.call import Call
from anyhook.model.event import Event
from anyhook.model.hook import ARMED, BROKEN, CHANGED, DISABLED, OF_POLICY, UNTRUSTED, Hook, Layer, Source
from anyhook.model.json_types import Json
from anyhook.model.lean_json import dumps
from anyhook.model.problem import WARNING
from anyhook.model.record import Record
from anyhook.model.words import OWN_SCOPES, Trust, never
from anyhook.platform.places import APPROVALS_FILE, INSTALLS, NOWHERE, config_file, lies_in, state_dir, upward
from anyhook.platform.run import run
from anyhook.programs.named import LAUNCHERS, is_stream, named_files, on_project_path, within
from anyhook.state.hook_types import HookTypes
from anyhook.state.installs import Installs
from anyhook.state.ledger import Item, Ledger
from anyhook.state.plans import Setup
from anyhook.state.policies import FUNCTIONS, Policy, read_policies, required, with_managed, with_policies
from anyhook.state.policies import RULES as RULE_FILE
from anyhook.state.settings import Settings, read_settings, unread
from anyhook.state.switches import Switches
from anyhook.tables.host_rows import EntryFault
from anyhook.tables.isolation import FAILED, Isolated, one_file
from anyhook.tables.registry import dialect, special
from anyhook.tables.rows import Dialect, Roots, Scene

Made = TypeVar("Made")


def discover(dialect: Dialect, roots: Roots) -> list[Source]:
    """Every place to look, in the dialect's own order, whether or not it exists; a place that two scopes share counts
    once."""
    places: dict[str, Source] = {}
    for source in dialect.find(roots):
        places.setdefault(source.path, source)
    return list(places.values())


# Load: a source's declarations → hooks, entry by entry. Errors become problems; nothing is started.


def load(dialect: Dialect, source: Source, files: Files) -> Layer:
    """What one source holds. If reading it fails, that is a problem, and the layer is empty."""
    before, files.owner = files.owner, (source.dialect, source.scope)
    try:
        with one_file(files, source):
            layer = dialect.load(source, files)
            if dialect.failing.strict:
                _check_strict(dialect, layer, files)
            return layer
    finally:
        files.owner = before
    return Layer(source, ())


def _check_strict(dialect: Dialect, layer: Layer, files: Files) -> None:
    """Report values of the key for failures that the dialect does not know. They are read strictly."""
    assert dialect.failing.strict is not None  # noqa: S101 (the caller looked)
    key, *words = dialect.failing.strict
    for hook in layer.hooks:
        value = hook.spec.get(key)
        if value is None or any(value is word or (isinstance(value, str) and value == word) for word in words):
            continue
        what = f"`{key}` of `{hook.name}` is {dumps(value)[:40]}, which is not known; its failures block"
        place = (*hook.place, key) if hook.place else ()
        fix = f"Use {' or '.join(map(dumps, words))}."
        files.problem_at("wrong-value", what, hook.source, place, fix=fix, severity=WARNING)


def builtins(dialect: Dialect) -> list[Hook]:
    """The hooks that are part of the product."""
    found = []
    for builtin in dialect.builtins:
        name, row = builtin.name, dialect.row(builtin.native_event)
        own = Hook(f"{dialect.name}:{name}", name, dialect.name, "builtin", dialect.name, handler="builtin")
        found.append(own.replace(native_event=builtin.native_event, events=row.canonical if row else ()))
    return found


# Packaged hooks: folders of hooks from elsewhere that `anyhook add` has put next to the rules of a user or a project.
# Each is read like a separate project: its hooks have the package's folder as their project, and run once somebody has
# approved their content for that folder. They cannot hide or switch off another folder's hooks.


TRUST, GUARDS, OF_PACKAGE = "anyhook trust", "anyhook guards", "package"


def package_folders(setup: Setup, files: Files) -> dict[str, str]:
    """The folders and names of all packages."""
    found: dict[str, str] = {}
    for scope in OWN_SCOPES:
        folder = rule_file(scope, setup.project, setup.env).rpartition("/")[0]
        for name, pinned in packages_in(folder, files).items():
            place = f"{folder}/{FOLDER}/{name}"
            found[place] = name
            lost = [path for path in pinned if scope == "user" and files.look(f"{place}/{path}") is None]
            if lost:
                what = f"the package `{name}` has lost {', '.join(lost[:3])}{' …' if len(lost) > 3 else ''}"
                fix = f"Add it again with `anyhook add`, or remove it: anyhook remove {name}"
                files.problem("damaged-pack", what, place, fix=fix, dialect="anyhook", scope="user")
    return found


def from_elsewhere(table: Dialect, folder: str, loaded: Loaded) -> tuple[Roots, list[Source]]:
    """The roots of a package or a policy, whose folder is their project, and where it may declare hooks of a
    dialect."""
    roots = loaded.roots.replace(project=folder, outer=folder, plugin_dirs=())
    found = [source for source in discover(table, roots) if source.scope == "project"]
    return roots, [source for source in found if lies_in(source.path, folder)]


def _loaded_of(table: Dialect, sources: Sequence[Source], files: Files) -> list[Layer]:
    return [load(table, source, files) for source in sources if files.look(source.path) is not None]


def named(hook: Hook, kind: str, name: str, project: str) -> Hook:
    """A hook of a package or a policy, with the name in its id."""
    dialect, _scope, rest = hook.id.split(":", 2)
    why = hook.why.replace(f"`{TRUST}`", f"`{TRUST} --project {project}`")
    return hook.replace(id=f"{dialect}:{kind}:{name}:{rest}", project=project, why=why)


def is_packaged(hook: Hook) -> bool:
    return hook.id.startswith(f"{hook.dialect}:{OF_PACKAGE}:")


def approval_of(hook: Hook) -> str:
    """The command that shows a waiting hook to its user and lets them approve it."""
    if hook.scope == "user":
        return GUARDS  # a rule of a package that has changed
    return f"{TRUST} --project {hook.project}" if is_packaged(hook) else TRUST


# Trust: which hooks of a project may run. It fingerprints what would run and compares it with the ledger.


def pinned(hook: Hook, dialect: Dialect, roots: Roots, files: Files) -> tuple[Item, dict[str, Fingerprint]]:
    """What an approval of this hook covers: its declaration, and the bytes of the files that decide what it does, each
    read once. Those are the files that its declaration names, programs that PATH finds in the project, what their texts
    show that they load, and the interpreters that first lines name."""
    words = [*_texts(list(hook.spec.values())), *LAUNCHERS]
    loads = loaded_by(hook, dialect, roots, files)
    waiting = [
        *dialect.names(hook, files, roots.project, roots.home),
        *on_project_path(words, roots.env.get("PATH", ""), roots.project, files),
        *loads.files,
    ]
    prints = {**with_interpreters(waiting, roots, files), **part_prints(loads)}
    digests = {path: seen.digest for path, seen in prints.items()}
    return Item(hook.id, hook.definition, digests, unpinned=loads.unknown), prints


def loaded_by(hook: Hook, dialect: Dialect, roots: Roots, files: Files) -> Loads:
    """What a hook runs besides the files that its declaration names."""
    try:
        if hook.handler == "python":
            reader = Reader(roots, files, roots.env)
            reader.callable(str(hook.spec["callable"]).partition(":")[0], roots.project)
            return reader.result()
        if hook.handler != "command":
            return Loads()
        row = dialect.row(hook.native_event) or dialect.events[0]
        launch = dialect.launch(hook, Scene(Event(row.canonical[0], {}), row.native, roots.project, "", roots.env, {}))
        reader = Reader(roots, files, launch.env)
        reader.has_closed_env = dialect.closed_env
        return loaded_by_command(launch.argv, launch.cwd, reader)
    except TooLarge:
        raise
    except Exception as error:  # noqa: BLE001 (`trust` reports what could not be read)
        return Loads(unknown=(f"what could not be read ({type(error).__name__})",))


def loaded_by_command(argv: Sequence[str], cwd: str, reader: Reader) -> Loads:
    reader.environment({name: value for name, value in reader.variables.items() if name not in reader.roots.env}, cwd)
    reader.line(shlex.join(argv), cwd)
    return reader.result()


def part_prints(loads: Loads) -> dict[str, Fingerprint]:
    """The fingerprints of parts of folders and files whose other parts may change."""
    return {
        name: Fingerprint(hashlib.sha256(data).hexdigest(), size=len(data), head=data)
        for name, data in loads.parts.items()
    }


def contents_of(item: Item, files: Files) -> dict[str, str]:
    """What the pinned files hold, as `places.content` tells it."""
    whole = [path.partition("#")[0].rstrip("/") for path in item.files]
    return {path: files.contents.get(path, "") for path in whole}


def with_interpreters(waiting: list[str], roots: Roots, files: Files) -> dict[str, Fingerprint]:
    """The fingerprints of these files, and of the interpreters that their first lines name."""
    found: dict[str, Fingerprint] = {}
    for path in waiting:  # grows while it is walked
        if path in found or is_stream(path):
            continue
        seen = files.fingerprint(path)
        # A compiled program outside the project belongs to the system, and changes with its updates.
        if seen.binary and not within(path, roots.project) and not within(files.real_path(path), roots.project):
            files.contents.pop(path, None)
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
    if mode == "all" or (mode == "native" and _trusts_natively(dialect, ledger, roots, files)):
        return layer
    if mode != "ask":
        why = "--trust none" if mode == "none" else "the dialect trusts projects by path, and this one is not trusted"
        hooks = tuple(_mark(hook, UNTRUSTED, why) for hook in layer.hooks)
        return layer.replace(hooks=hooks, replaces=(), all_off=None)
    hooks = tuple(_judged(hook, ledger, dialect, roots, files) for hook in layer.hooks)
    waiting = {hook.native_event for hook in hooks if not hook.trusted}
    asked_for = switches(layer).items()
    waiting |= {
        event for event, item in asked_for if not covered(ledger.known(roots.project, item.id, files.watch), item)
    }
    return layer.replace(
        hooks=hooks,
        replaces=tuple(event for event in layer.replaces if event not in waiting),
        all_off=None if ALL in waiting else layer.all_off,
    )


def _judged(hook: Hook, ledger: Ledger, dialect: Dialect, roots: Roots, files: Files) -> Hook:
    if hook.status == DISABLED:
        return hook
    known = ledger.known(roots.project, hook.id, files.watch)
    if not known:
        return _mark(hook, UNTRUSTED, "not approved yet; see `anyhook trust`")
    item, _ = pinned(hook, dialect, roots, files)
    if covered(known, item):
        return hook.replace(pins=contents_of(item, files), unpinned=item.unpinned)
    if all(each.afar for each in known) and item.unpinned:
        why = f"approved in another clone only, and it also runs {item.unpinned[0]}, which is not pinned"
        return _mark(hook, UNTRUSTED, f"{why}; see `anyhook trust`")
    return _mark(hook, CHANGED, "changed since it was approved; see `anyhook trust`")


def covered(known: Sequence[Item], item: Item) -> bool:
    """Whether one of these approvals covers exactly this."""
    return any(approved.same_as(item) for approved in known)


def _trusts_natively(dialect: Dialect, ledger: Ledger, roots: Roots, files: Files) -> bool:
    """Whether the dialect's own product would run the project's hooks."""
    if dialect.trusted_natively is None or ledger.approves_hooks(roots.project):
        return True
    return roots.project in {os.path.realpath(path) for path in dialect.trusted_natively(roots, files)}


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
    try:
        told = lean_json.loads(item.definition)
    except (ValueError, RecursionError):
        told = None
    told = told if isinstance(told, dict) else {}
    row = dialect(name).row(str(told.get("event") or told.get("trigger") or ""))
    return Hook(
        item.id, item.id.rpartition(":")[2], name, "project", next(iter(item.files), roots.project), root=roots.project,
        native_event=row.native if row else "", events=row.canonical if row else (), matcher=told.get("matcher"),
        definition=item.definition, status=CHANGED,
        why="it was approved, and is no longer declared; see `anyhook trust`",
    )  # fmt: skip


# Layer: joins what the sources of one dialect hold into one list, by that dialect's rule. An untrusted entry of a
# project never replaces or shadows a user's entry.


def layer(dialect: Dialect, layers: Sequence[Layer], files: Files) -> list[Hook]:
    """One list of hooks, in the order in which they run."""
    match dialect.layering:
        case "concatenate":
            hooks = [hook for each in layers for hook in each.hooks]
        case "replace_lists":
            hooks = _replace_lists(layers, files)
        case "later_name_wins":
            hooks = _one_per_name(layers, reversed(layers), files)
        case "earlier_name_wins":
            hooks = _one_per_name(layers, layers, files)
        case _:
            never(dialect.layering)
    off = _switched_off(layers)
    if off:
        told = {"status": DISABLED, "why": f"{off} turns all hooks off", "off_cause": "all_off", "off_by": off}
        hooks = [hook.replace(**told) for hook in hooks]
    return sorted(hooks, key=dialect.sort) if dialect.sort else hooks


def _switched_off(layers: Sequence[Layer]) -> str:
    """The last source that turns all hooks of the dialect on or off, if it turns them off."""
    said = [each for each in layers if each.all_off is not None]
    return said[-1].source.path if said and said[-1].all_off else ""


def _replace_lists(layers: Sequence[Layer], files: Files) -> list[Hook]:
    kept: list[Hook] = []
    for each in layers:
        gone = [hook for hook in kept if hook.native_event in each.replaces]
        for hook in gone:
            _say_overridden(hook, each.source.path, files)
        kept = [hook for hook in kept if hook.native_event not in each.replaces]
        kept.extend(each.hooks)
    return kept


def _one_per_name(layers: Sequence[Layer], strongest_first: Iterable[Layer], files: Files) -> list[Hook]:
    winners: dict[str, Hook] = {}
    for each in strongest_first:
        for hook in each.hooks:
            if hook.trusted and hook.status != DISABLED:
                winners.setdefault(hook.name, hook)
    kept: list[Hook] = []
    for each in layers:
        for hook in each.hooks:
            winner = winners.get(hook.name)
            if winner is None or winner.scope == hook.scope or not hook.trusted or hook.status == DISABLED:
                kept.append(hook)
            else:
                _say_overridden(hook, winner.source, files)
    return kept


def _say_overridden(hook: Hook, by: str, files: Files) -> None:
    files.problem(
        "overridden",
        f"hook `{hook.name}` of the {hook.scope} does not run",
        hook.source,
        f"{by} overrides it",
        "Rename one of them if you want both to run.",
        WARNING,
    )


# The catalog: discover, load, trust and layer, once for a project and a user. It starts only executables that name
# their own event, to ask them, and only if the caller allows it. A project that is too large to read has no hooks, in
# any dialect; the user's hooks still run.


RULES = "anyhook"
"""The dialect of the user's own rules."""

SWITCHED_OFF = "turned off; `anyhook enable` turns it on"
"""The reason given for a hook that its user turned off."""


class Loaded(Record):
    """What is on disk, before trust is applied."""

    roots: Roots
    config: Settings
    files: Files
    layers: dict[str, list[Layer]]
    folders: dict[str, str]
    """Dialect → the folder above the project whose files count, if it is not the project itself."""
    budget: Budget | None
    """The budget for reading the project; None if its layers were dropped."""
    too_large: TooLarge | None = None
    """Why the project's layers were dropped; "" if they were not."""
    policies: tuple[Policy, ...] = ()

    def roots_of(self, name: str) -> Roots:
        """The roots of one dialect: its project is the nearest folder upwards that has its files."""
        folder = self.folders.get(name)
        return self.roots if folder is None else self.roots.replace(project=folder)

    def charge(self, place: str) -> None:
        """From here on, what `files` reads is charged to the project's budget."""
        self.files.budget = self.budget
        if self.budget is not None:
            self.budget.place = place

    def stop_charging(self) -> None:
        self.files.budget = None
        if self.budget is not None and self.budget.exceeded is not None:
            raise self.budget.exceeded


def read(setup: Setup) -> Loaded:
    """Discover and load."""
    return within_budget(setup, lambda loaded: loaded)


def within_budget(setup: Setup, work: Callable[[Loaded], Made], budget: Budget | None = None) -> Made:
    """Read everything and do some work with it. If the project turns out to be too large, while reading or in the work,
    do both again without its layers; so the work must be safe to do twice."""
    budget = Budget(setup.read_by_s) if budget is None else budget
    files = Files()
    try:
        made = work(_read(setup, files, budget, None))
        if budget.exceeded is None:
            return made
        error = budget.exceeded
    except TooLarge as raised:
        error = raised
    rest = Files()
    rest.contents.update(files.contents)
    rest.stamps.update(files.stamps)  # it depends on these: until one of them changes, the project is too large
    return work(_read(setup, rest, None, error))


def _read(setup: Setup, files: Files, budget: Budget | None, too_large: TooLarge | None) -> Loaded:
    config = _config(setup, files)
    policies: list[Policy] = []
    with Isolated(files, state_dir(setup.env), "no policy is used: reading them failed", scope="user") as theirs:
        if not _is_in_project(config_file(setup.env), setup):
            policies = read_policies(setup.env, files)
            config = with_policies(config, policies, files, setup.env.get("HOME", ""))
    if theirs.failed:
        config = unread(state_dir(setup.env), config)
    roots = setup.roots(config.plugins)
    loaded = Loaded(roots, config, files, {}, {}, budget, too_large, tuple(policies))
    for name in setup.dialects:
        loaded.layers[name] = []
        with _dialect_apart(files, name, roots.project):
            table = dialect(name)
            loaded.layers[name] = _nearest(table, loaded)
    if too_large is not None:
        problem = too_large.problem()
        where = problem.where or setup.project
        files.problem(problem.code, problem.what, where, problem.why, problem.fix, scope="project")
    return loaded


def _nearest(table: Dialect, loaded: Loaded) -> list[Layer]:
    """The layers of a dialect, its project's from the nearest folder upwards that declares anything."""
    roots, files = loaded.roots, loaded.files
    layers, declared = _layers(table, _places(table, roots, files), loaded, {})
    if declared or loaded.too_large is not None:
        return layers
    known = {layer.source.path: layer for layer in layers if layer.source.scope != "project"}
    for folder in upward(roots.project, roots.outer or roots.project)[1:]:
        places = _places(table, roots.replace(project=folder), files)
        if not any(_may_hold(source.path, folder, files) for source in places if source.scope == "project"):
            continue
        found, declared = _layers(table, places, loaded, known)
        if declared:
            loaded.folders[table.name] = folder
            return [_declared_in(folder, layer) if layer.source.scope == "project" else layer for layer in found]
    return layers


def _layers(
    table: Dialect, places: Sequence[Source], loaded: Loaded, known: dict[str, Layer]
) -> tuple[list[Layer], bool]:
    """What these places hold, and whether the project's places declare a hook or a switch, or cannot be read. A
    settings file about other things does not hide the hooks of the folders above."""
    layers: list[Layer] = []
    declared = False
    for source in places:
        if source.path in known:
            layers.append(known[source.path])
            continue
        errors = loaded.files.errors
        layer = _load(table, source, loaded)
        layers.append(layer)
        if source.scope == "project":
            says = layer.hooks or layer.replaces or layer.all_off is not None
            declared = declared or bool(says) or loaded.files.errors > errors
    return layers, declared


def _may_hold(path: str, folder: str, files: Files) -> bool:
    """Whether a place in a folder above may exist. If even its first part is missing, a plan has to record only that:
    one check per dialect and folder."""
    inside = path.removeprefix(f"{folder}/")
    top = f"{folder}/{inside.partition('/')[0]}" if inside != path else path
    return os.path.lexists(top) or files.look(top) is not None


def _declared_in(folder: str, layer: Layer) -> Layer:
    return layer.replace(hooks=tuple(hook.replace(project=folder) for hook in layer.hooks))


def _load(table: Dialect, source: Source, loaded: Loaded) -> Layer:
    """What one source holds. A project's source is charged to the budget, and empty if the project was dropped."""
    empty, loaded.files.budget = Layer(source, ()), None
    if not gated(empty, loaded.roots, loaded.files):
        return load(table, source, loaded.files)
    if loaded.too_large is not None:
        return empty
    loaded.charge(source.path)
    layer = load(table, source, loaded.files)
    loaded.stop_charging()
    return layer


def _dialect_apart(files: Files, name: str, project: str) -> Isolated:
    return Isolated(files, project, f"no hook of the dialect {name} is used: reading them failed", name)


def _places(table: Dialect, roots: Roots, files: Files) -> list[Source]:
    """Where hooks may be declared; only the user's places if the project's cannot be determined."""
    with Isolated(files, roots.project, "the hooks of this project are not used", table.name, "project"):
        return discover(table, roots)
    return [source for source in discover(table, roots.replace(project=NOWHERE)) if source.scope != "project"]


def _config(setup: Setup, files: Files) -> Settings:
    """The user's settings. A file inside the project could name plugins, which run without approval: ignore it."""
    path, home = config_file(setup.env), setup.env.get("HOME", "")
    config = unread(path)
    with Isolated(files, path, "the settings are not used: reading them failed", scope="user"):
        config = _settings(setup, files, path, home)
    folder = managed_dir(setup.env)
    with Isolated(files, folder, "the organisation's settings are not used", scope="managed") as theirs:
        config = with_managed(config, setup.env, files, home)
    if theirs.failed:
        config = unread(folder, config)
    return config


def _settings(setup: Setup, files: Files, path: str, home: str) -> Settings:
    if _is_in_project(path, setup):
        files.problem(
            "bad-setting",
            "the settings are inside the project; they are ignored",
            path,
            "the project's author could have written them",
            "Set XDG_CONFIG_HOME to a folder outside the project.",
            WARNING,
        )
        return Settings()
    return read_settings(path, files, home)


def _is_in_project(path: str, setup: Setup) -> bool:
    """Whether the project's author could have written the user's settings."""
    home = setup.env.get("HOME", "")
    held = setup.project if path == f"{home.rstrip('/')}/.config/anyhook/config.toml" else setup.outer
    return lies_in(path, held) and not lies_in(home or "/", held)


def build(setup: Setup, *, may_start: bool) -> Catalog:
    """The whole catalog. With `may_start`, trusted executables are asked for their event."""
    return within_budget(setup, lambda loaded: _build(setup, loaded, may_start))


def _build(setup: Setup, loaded: Loaded, may_start: bool) -> Catalog:
    files, own_dir = loaded.files, setup.own_dir()
    for name in (APPROVALS_FILE, "switches.json"):
        files.watch(f"{own_dir}/{name}")  # before they are read: a plan must not outlive what was read
    files.look(f"{own_dir}/{INSTALLS}")
    ledger, switches, types = Ledger(NOWHERE), Switches(NOWHERE), HookTypes(NOWHERE)
    with Isolated(files, own_dir, "no approval of this user counts: reading our own records failed", scope="user"):
        ledger, switches, types = open_ledger(setup, files), Switches(own_dir), HookTypes(own_dir)
    hooks: list[Hook] = []
    packages: dict[str, str] = {}
    with Isolated(files, setup.project, "no hook of a package is used: reading the lock failed", scope="user"):
        packages = package_folders(setup, files)
    for name in setup.dialects:
        roots = loaded.roots_of(name)
        off = switches.off(setup.project) | switches.off(roots.project)
        with _dialect_apart(files, name, roots.project):
            table = dialect(name)
            layers = _trusted_layers(table, loaded, setup, ledger, off)
            files.budget = None  # the joined list includes the user's hooks
            found = [*(_switched(hook, off) for hook in builtins(table)), *joined(table, layers, roots, files)]
            found += _packaged(table, packages, setup, loaded, ledger, switches)
            found = _with_policies(table, found, loaded, off)
            hooks.extend(with_types(table, found, types, setup, loaded, may_start=may_start))
    if RULES in loaded.layers and own_dir != NOWHERE:
        with Isolated(files, switches.path, "what was turned on is not compared with what is on", scope="user"):
            from anyhook.gates.turned_on import with_memory  # here, because a damaged package may not have all of it

            with_memory(loaded.layers[RULES], packages, loaded.policies, setup.env, switches, files)
    entries = ()  # type: tuple[EntryFault, ...]
    with Isolated(files, own_dir, "our entries in agents are not looked at", scope="user"):
        entries = _entry_faults(own_dir, setup.project, files)
    problems = [*ledger.problems, *switches.problems, *files.problems]
    # A failure may be temporary (no memory, no time, a package that is being replaced), so try again the next time.
    failed = any(problem.code in (FAILED, "broken-agent") for problem in problems)
    failed = failed or (loaded.too_large is not None and not loaded.too_large.lasting)
    complete = not failed and all(hook.native_event or hook.status != ARMED for hook in hooks)
    known = setup.trust == "ask" and loaded.too_large is None
    missing = gone(loaded.layers, ledger, loaded.roots, loaded.folders, files) if known else ()
    config = required(loaded.config, hooks)
    return Catalog(hooks, problems, config, files.stamps, files.contents, complete, missing, entries)


def _trusted_layers(table: Dialect, loaded: Loaded, setup: Setup, ledger: Ledger, off: frozenset[str]) -> list[Layer]:
    """A dialect's layers, with what their user has approved and not turned off."""
    layers: list[Layer] = []
    for each in loaded.layers[table.name]:
        with one_file(loaded.files, each.source):
            loaded.charge(each.source.path)
            (judged,) = trust(table, [each], setup.trust, ledger, loaded.roots_of(table.name), loaded.files)
            loaded.stop_charging()
            layers.append(judged.replace(hooks=tuple(_switched(hook, off) for hook in judged.hooks)))
    return layers


def _entry_faults(own_dir: str, project: str, files: Files) -> tuple[EntryFault, ...]:
    """What is wrong with our entries in agents, of which we know where they were."""
    installs = Installs(own_dir)
    if installs.damaged:
        files.problem(
            "installs-damaged",
            "it is not known any more which agents were made to call anyhook",
            installs.path,
            installs.damaged,
            "Remove this file, and run `anyhook install AGENT` again for your agents.",
            scope="user",
        )
    if not installs.known:
        return ()
    return tuple(entry_faults(installs, project, files.look))


def _packaged(
    table: Dialect, packages: dict[str, str], setup: Setup, loaded: Loaded, ledger: Ledger, switches: Switches
) -> list[Hook]:
    """The hooks of packages in one dialect; an error in one package does not affect the others."""
    found: list[Hook] = []
    for folder, package in packages.items():
        files, off = loaded.files, switches.off(folder)
        with Isolated(files, folder, f"no hook of the package {package} is used", table.name):
            if lies_in(folder, setup.project):
                if loaded.too_large is not None:
                    continue
                loaded.charge(folder)
            roots, sources = from_elsewhere(table, folder, loaded)
            layers = trust(table, _loaded_of(table, sources, files), setup.trust, ledger, roots, files)
            loaded.stop_charging()
            own = [named(hook, OF_PACKAGE, package, folder) for hook in joined(table, layers, roots, files)]
            found += [_switched(hook, off) for hook in own]
        files.budget = None
    return found


def _with_policies(table: Dialect, found: list[Hook], loaded: Loaded, off: frozenset[str]) -> list[Hook]:
    """The hooks of a dialect with those of policies: the organisation's come first."""
    for policy in reversed(loaded.policies):
        with Isolated(loaded.files, policy.folder, f"no hook of the policy {policy.name} is used", table.name):
            theirs = [_switched(hook, off) for hook in of_policy(table, policy, loaded)]
            found = [*theirs, *found] if policy.scope == SCOPE else [*found, *theirs]
    return sorted(found, key=table.sort) if table.sort and loaded.policies else found


def of_policy(table: Dialect, policy: Policy, loaded: Loaded) -> list[Hook]:
    """What a policy declares in one dialect. It was signed, so its hooks need no approval. Its rules are about the
    project, like the user's own; other hooks have its folder as their project, like those of a package."""
    if policy.damage:
        return []
    folder, files = policy.folder, loaded.files
    own = (RULE_FILE, FUNCTIONS) if table.name == RULES else ()
    rules = [
        Source(RULES, policy.scope, f"{folder}/{name}", folder, project=loaded.roots.project, within=folder)
        for name in own
        if name in policy.files
    ]
    roots, found = from_elsewhere(table, folder, loaded)
    places = [source.replace(scope=policy.scope) for source in found]
    hooks: list[Hook] = []
    for sources, project in ((rules, ""), (places, folder)):
        theirs = joined(table, _loaded_of(table, sources, files), roots, files)
        hooks += [named(hook, OF_POLICY, policy.name, project).replace(scope=policy.scope) for hook in theirs]
    return hooks


def joined(table: Dialect, layers: Sequence[Layer], roots: Roots, files: Files) -> list[Hook]:
    """The layers of one dialect as one list. Layers that cannot be joined are dropped, the project's before the
    user's."""
    try:
        return layer(table, layers, files)
    except Exception:  # noqa: BLE001 (told below, layer by layer)
        kept: set[int] = set()
        for place in sorted(range(len(layers)), key=lambda place: gated(layers[place], roots, files)):
            with one_file(files, layers[place].source):
                layer(table, [layers[other] for other in sorted({*kept, place})], Files())
                kept.add(place)
        return layer(table, [layers[place] for place in sorted(kept)], files)


def open_ledger(setup: Setup, files: Files) -> Ledger:
    """The approvals. A ledger inside the project is ignored, unless the project is the home folder or contains it."""
    own_dir = setup.own_dir()
    if own_dir == NOWHERE:
        files.problem(
            "ledger-in-project",
            "the trust ledger is inside the project, so no approval counts",
            state_dir(setup.env),
            fix="Set XDG_STATE_HOME to a folder outside the project.",
        )
    return Ledger(own_dir)


def _switched(hook: Hook, off: frozenset[str]) -> Hook:
    if hook.id not in off or hook.scope == SCOPE:
        return hook
    return hook.replace(status=DISABLED, why=SWITCHED_OFF, off_cause="switched_off")


def with_types(
    table: Dialect, hooks: list[Hook], types: HookTypes, setup: Setup, loaded: Loaded, *, may_start: bool
) -> list[Hook]:
    """Each executable with the event it names: from the answers stored by content, or asked now. The hooks as they are
    in a dialect whose hooks do not describe themselves."""
    if special(table.name, "ASK_TYPE") is None:
        return hooks
    files, fresh = loaded.files, dict[str, str]()
    made: list[Hook] = []
    for hook in hooks:
        if hook.native_event or hook.status == BROKEN:
            made.append(hook)
            continue
        typed = hook.replace(status=BROKEN, why="it could not be asked for its event")
        what = f"hook `{hook.name}` is not used: asking for its event failed"
        with Isolated(files, hook.source, what, hook.dialect, hook.scope):
            if files.lies_in(hook.source, hook.project or setup.project):
                loaded.charge(hook.source.rpartition("/")[0])
            digest, _ = files.digest(hook.source)
            loaded.stop_charging()
            answer = (types.get(digest) or fresh.get(digest)) if digest else None
            failure = ""
            if answer is None and may_start and hook.status == ARMED:
                answer, failure = _ask(table, hook, setup)
                if answer is not None and digest:
                    fresh[digest] = answer
            typed = _typed(table, hook, answer, failure, files)
        files.budget = None
        made.append(typed)
    if fresh:
        with Isolated(files, types.path, "what executables answered could not be kept"):
            types.keep(fresh)
    return made


def _typed(table: Dialect, hook: Hook, answer: str | None, failure: str, files: Files) -> Hook:
    row = table.row(answer) if answer is not None else None
    if row is not None:
        return hook.replace(native_event=row.native, events=row.canonical)
    if answer is not None:
        failure = (
            f"it says its event is {answer[:60]!r}, which is not one of {', '.join(row.native for row in table.events)}"
        )
    if not failure or hook.status != ARMED:
        return hook
    files.problem(
        "no-event",
        "this hook cannot be used",
        hook.source,
        failure,
        f"`{hook.source} {special(table.name, 'ASK_TYPE')}` must print one of the events and exit with status 0.",
    )
    return hook.replace(status=BROKEN, why=failure)


def _ask(table: Dialect, hook: Hook, setup: Setup) -> tuple[str | None, str]:
    """The answer, or why there is none."""
    limit_s = table.limits["command"].default_s
    env, folder = dict(setup.for_hooks), hook.project or setup.project
    done = run(Call((hook.source, special(table.name, "ASK_TYPE")), b"", env, folder, limit_s, ""))
    if done.ending == "exited" and done.exit_code == 0:
        return done.stdout.decode("utf-8", "replace").strip(), ""
    if done.ending == "exited":
        return None, f"asked for its event, it exited with status {done.exit_code}"
    return None, f"asked for its event, it failed: {done.error or done.ending.replace('_', ' ')}"
