"""The catalog: discover, load, trust and layer, once for a project and a user. It starts only executables that name
their own event, to ask them, and only if the caller allows it. A project that is too large to read has no hooks, in any
dialect; the user's hooks still run."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from anyhook.documents.budget import Budget, TooLarge
from anyhook.documents.files import Files
from anyhook.documents.managed import SCOPE, managed_dir
from anyhook.documents.places import NOWHERE, config_file, lies_in, state_dir, upward
from anyhook.model.call import Call
from anyhook.model.hook import ARMED, BROKEN, DISABLED, Hook, Layer
from anyhook.model.problem import WARNING
from anyhook.model.record import Record
from anyhook.state.hook_types import HookTypes
from anyhook.state.ledger import Ledger
from anyhook.state.managed import required, with_managed
from anyhook.state.plans import Setup
from anyhook.state.settings import Settings, read_settings
from anyhook.state.switches import Switches
from anyhook.tables.isolation import FAILED, Isolated, one_file
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Dialect, Roots
from anyhook.walk.discover import discover
from anyhook.walk.layer import layer
from anyhook.walk.load import builtins, load
from anyhook.walk.packaged import named, package_folders, package_layers
from anyhook.walk.routes import Catalog
from anyhook.walk.trust import gated, gone, trust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeVar

    from anyhook.model.hook import Source

    Made = TypeVar("Made")


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
    rest.stamps.update(files.stamps)  # it depends on these: until one of them changes, the project is too large
    return work(_read(setup, rest, None, error))


def _read(setup: Setup, files: Files, budget: Budget | None, too_large: TooLarge | None) -> Loaded:
    config = _config(setup, files)
    roots = setup.roots(config.plugins)
    loaded = Loaded(roots, config, files, {}, {}, budget, too_large)
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
    config = Settings()
    with Isolated(files, path, "the settings are not used: reading them failed", scope="user"):
        config = _settings(setup, files, path, home)
    with Isolated(files, managed_dir(setup.env), "the organisation's settings are not used", scope="managed"):
        config = with_managed(config, setup.env, files, home)
    return config


def _settings(setup: Setup, files: Files, path: str, home: str) -> Settings:
    held = setup.project if path == f"{home.rstrip('/')}/.config/anyhook/config.toml" else setup.outer
    if lies_in(path, held) and not lies_in(home or "/", held):
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


def build(setup: Setup, may_start: bool) -> Catalog:
    """The whole catalog. With `may_start`, trusted executables are asked for their event."""
    return within_budget(setup, lambda loaded: _build(setup, loaded, may_start))


def _build(setup: Setup, loaded: Loaded, may_start: bool) -> Catalog:
    files, own_dir = loaded.files, setup.own_dir()
    for name in ("trust.json", "switches.json"):
        files.look(f"{own_dir}/{name}")  # before they are read: a plan must not outlive what was read
    ledger, switches, types = Ledger(NOWHERE), Switches(NOWHERE), HookTypes(NOWHERE)
    with Isolated(files, own_dir, "no approval of this user counts: reading our own records failed", scope="user"):
        ledger, switches, types = open_ledger(setup, files), Switches(own_dir), HookTypes(own_dir)
    hooks: list[Hook] = []
    packages: dict[str, str] = {}
    with Isolated(files, setup.project, "no hook of a package is used: reading the lock failed"):
        packages = package_folders(setup, files)
    for name in setup.dialects:
        roots = loaded.roots_of(name)
        off = switches.off(setup.project) | switches.off(roots.project)
        with _dialect_apart(files, name, roots.project):
            table = dialect(name)
            layers: list[Layer] = []
            for each in loaded.layers[name]:
                with one_file(files, each.source):
                    loaded.charge(each.source.path)
                    (judged,) = trust(table, [each], setup.trust, ledger, roots, files)
                    loaded.stop_charging()
                    layers.append(judged.replace(hooks=tuple(_switched(hook, off) for hook in judged.hooks)))
            files.budget = None  # the joined list includes the user's hooks
            found = [*(_switched(hook, off) for hook in builtins(table)), *joined(table, layers, roots, files)]
            found += _packaged(table, packages, setup, loaded, ledger, switches)
            hooks.extend(with_types(table, found, types, setup, loaded, may_start) if table.ask_type else found)
    problems = [*ledger.problems, *switches.problems, *files.problems]
    # A failure may be temporary (no memory, no time), so try again the next time.
    failed = any(problem.code == FAILED for problem in problems)
    failed = failed or (loaded.too_large is not None and not loaded.too_large.lasting)
    complete = not failed and all(hook.native_event or hook.status != ARMED for hook in hooks)
    known = setup.trust == "ask" and loaded.too_large is None
    missing = gone(loaded.layers, ledger, loaded.roots, loaded.folders, files) if known else ()
    return Catalog(hooks, problems, required(loaded.config, hooks), files.stamps, complete, missing)


def _packaged(
    table: Dialect, packages: dict[str, str], setup: Setup, loaded: Loaded, ledger: Ledger, switches: Switches
) -> list[Hook]:
    """The hooks of packages in one dialect; an error in one package does not affect the others."""
    found: list[Hook] = []
    for folder, package in packages.items():
        roots, off = loaded.roots.replace(project=folder, outer=folder, plugin_dirs=()), switches.off(folder)
        with Isolated(loaded.files, folder, f"no hook of the package {package} is used", table.name):
            if lies_in(folder, setup.project):
                if loaded.too_large is not None:
                    continue
                loaded.charge(folder)
            layers = package_layers(table, roots, setup.trust, ledger, loaded.files)
            loaded.stop_charging()
            own = [named(hook, package, folder) for hook in joined(table, layers, roots, loaded.files)]
            found += [_switched(hook, off) for hook in own]
        loaded.files.budget = None
    return found


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
    return hook.replace(status=DISABLED, why=SWITCHED_OFF) if hook.id in off and hook.scope != SCOPE else hook


def with_types(
    table: Dialect, hooks: list[Hook], types: HookTypes, setup: Setup, loaded: Loaded, may_start: bool
) -> list[Hook]:
    """Each executable with the event it names: from the answers stored by content, or asked now."""
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
        f"`{hook.source} {table.ask_type}` must print one of the events and exit with status 0.",
    )
    return hook.replace(status=BROKEN, why=failure)


def _ask(table: Dialect, hook: Hook, setup: Setup) -> tuple[str | None, str]:
    """The answer, or why there is none."""
    from anyhook.process.run import run

    limit_s = table.limits["command"].default_s
    done = run(Call((hook.source, table.ask_type), b"", dict(setup.env), hook.project or setup.project, limit_s, ""))
    if done.ending == "exited" and done.exit_code == 0:
        return done.stdout.decode("utf-8", "replace").strip(), ""
    if done.ending == "exited":
        return None, f"asked for its event, it exited with status {done.exit_code}"
    return None, f"asked for its event, it failed: {done.error or done.ending.replace('_', ' ')}"
