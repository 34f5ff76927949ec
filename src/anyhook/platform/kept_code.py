"""The compiled code of the modules that a call loads, in one file for each part of the call, beside what Python
keeps of each module. It counts while the source files have the size and time that they had, as Python's files do; else
modules are imported as usual, and it is made again. Reading it takes a fifth less time than importing a hundred
modules."""

from __future__ import annotations

import marshal
import os
import sys
from _frozen_importlib_external import MAGIC_NUMBER, SourceFileLoader

import anyhook

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import CodeType

    Kept = tuple[str, CodeType, str, bool, int, int]
    """Name, code and source file of a module, whether it is a package, and the time and size of that file."""

USUAL, OWN = "anyhook.cli.bridge", "anyhook.agents.anyhook"
BRIDGE, JUDGE, ENGINE, RULES = "bridge", "judge", "engine", "rules"
BEGINS_WITH = {
    BRIDGE: (USUAL, "anyhook.cli.options", "anyhook.engine.disobeyed", "anyhook.journal.journal"),
    JUDGE: ("anyhook.engine.rule_calls",),
    ENGINE: ("anyhook.engine.engine", "anyhook.engine.walk", "anyhook.engine.dedupe", "anyhook.engine.settle"),
    RULES: ("anyhook.engine.rules", OWN),
}
"""The parts of a call, by the modules that each begins with: what every call of an agent loads, what a call loads that
only rules may want, what a call loads that a hook wants, and one that a rule wants."""
LOADED_BEFORE = {JUDGE: (BRIDGE,), ENGINE: (BRIDGE,), RULES: (BRIDGE, JUDGE)}
"""The parts that are always loaded before another one."""
ALWAYS_LOADED = ("anyhook", "anyhook.entry", "anyhook.platform", __name__, "anyhook.platform.launched")
"""What is loaded before any part."""
OF_AGENTS = "anyhook.agents."
"""Those of the agent that calls are kept with the first part, in a file for each agent."""
NOT_USUAL = ("anyhook.cli.app", "anyhook.engine.catalog")
"""A call that loads one of them reads its words or the hook files in full, and loads what others do not, or earlier."""

missed: set[str] = set()
"""The parts of this call that were imported as usual."""


class Calling:
    """The agent that calls."""

    name = ""


def file_of(part: str) -> str:
    """Where a part is kept; "" if Python keeps no files."""
    part = f"{part}-{Calling.name}" if part == BRIDGE else part
    beside = anyhook.__spec__.cached
    folder, name = os.path.split(beside or "")
    return f"{folder}/anyhook.{part}{name.removeprefix('__init__')}" if beside else ""


def load(part: str, agent: str = "") -> None:
    """Import a part of a call, unless this process has it already: from what is kept, or as usual."""
    if agent.isidentifier():
        Calling.name = agent
    if all(name in sys.modules for name in BEGINS_WITH[part]):
        return
    try:
        kept = _read(part)
        for name, code, source, is_package, _, _ in kept or ():
            _execute(name, code, source, is_package)
    except Exception:  # noqa: BLE001 (whatever is wrong with it, the modules' own files know better)
        kept = None
    try:
        for name in BEGINS_WITH[part]:
            __import__(name)
    except Exception:  # noqa: BLE001 (who needs it says so)
        return
    if kept is None:
        missed.add(part)


def _read(part: str) -> list[Kept] | None:
    """None if nothing is kept, or a source file has changed."""
    try:
        with open(file_of(part), "rb", buffering=0) as file:
            data = file.read()
    except FileNotFoundError:
        return None
    if not data.startswith(MAGIC_NUMBER):
        return None
    kept: list[Kept] = marshal.loads(memoryview(data)[len(MAGIC_NUMBER) :])  # noqa: S302 (where Python's own files are)
    here = f"{anyhook.__path__[0]}/"  # a copy of the package has what was kept of another
    for _, _, source, _, time_ns, size in kept:
        seen = os.stat(source)
        if seen.st_mtime_ns != time_ns or seen.st_size != size or not source.startswith(here):
            return None
    return kept


def _execute(name: str, code: CodeType, source: str, is_package: bool) -> None:
    """What the import system does with a module's code. A thread that imports the same module meanwhile waits."""
    # Here, because a Python that has no such names then imports as usual.
    from _frozen_importlib import ModuleSpec, _ModuleLockManager  # type: ignore[attr-defined]

    if name in sys.modules:
        return
    spec = ModuleSpec(name, SourceFileLoader(name, source), origin=source, is_package=is_package)
    spec.has_location = True
    module = type(sys)(name)
    begin = module.__dict__
    begin.update(__spec__=spec, __loader__=spec.loader, __file__=source, __package__=spec.parent)
    if spec.submodule_search_locations is not None:
        begin["__path__"] = spec.submodule_search_locations
        spec.submodule_search_locations.append(os.path.dirname(source))
    above, _, own_name = name.rpartition(".")
    __import__(above)
    with _ModuleLockManager(name):
        if name in sys.modules:  # another thread was faster
            return
        spec._initializing = True  # type: ignore[attr-defined]
        sys.modules[name] = module
        try:
            exec(code, begin)  # noqa: S102 (the module's own code)
        except BaseException:
            del sys.modules[name]
            raise
        finally:
            spec._initializing = False  # type: ignore[attr-defined]
        setattr(sys.modules[above], own_name, module)


def keep() -> None:
    """Keep what this call has imported, for the next one."""
    if sys.dont_write_bytecode or not missed or USUAL not in sys.modules:
        return
    if any(name in sys.modules for name in NOT_USUAL):
        return
    if not os.access(os.path.dirname(file_of(BRIDGE)), os.W_OK):  # of another user, so it would fail at each call
        return
    for part in missed:
        if part == BRIDGE and OF_AGENTS + Calling.name not in sys.modules:
            continue  # no agent that we know
        try:
            _write(part)
        except Exception:  # noqa: BLE001, S112 (it saves time and nothing else)
            continue


def forget() -> None:
    """Delete what is kept: the program that installed us does not know it, and would leave it behind."""
    missed.clear()
    folder, tag = os.path.dirname(file_of(RULES)), sys.implementation.cache_tag
    try:
        for name in os.listdir(folder):
            if name.startswith("anyhook.") and f".{tag}." in name:
                os.unlink(f"{folder}/{name}")
    except OSError:
        return


def _write(part: str) -> None:
    path = file_of(part)
    temporary = f"{path}.{os.getpid()}"
    try:
        with open(temporary, "xb") as file:
            file.write(MAGIC_NUMBER + marshal.dumps(_needed(part)))
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _needed(part: str) -> list[Kept]:
    """The modules that a part begins with and what they import, each after those that it imports when it is loaded.
    Whatever else this call has loaded does not matter."""
    found: dict[str, Kept] = {}
    begun = {*ALWAYS_LOADED}

    def visit(name: str) -> None:
        if name in begun or not name.startswith("anyhook.") or name not in sys.modules:
            return
        begun.add(name)
        visit(name.rpartition(".")[0])
        spec = sys.modules[name].__spec__
        if spec is None or spec.origin is None:
            return
        seen, code = os.stat(spec.origin), SourceFileLoader(name, spec.origin).get_code(name)
        if code is None:
            return
        named = code.co_names
        if "TYPE_CHECKING" in named:  # the imports above it are for more than types
            named = named[: named.index("TYPE_CHECKING")]
        for one in named:
            visit(one)
            if one.startswith("anyhook"):
                for other in named:
                    visit(f"{one}.{other}")
        is_package = spec.submodule_search_locations is not None
        found[name] = name, code, spec.origin, is_package, seen.st_mtime_ns, seen.st_size

    for each in (*LOADED_BEFORE.get(part, ()), part):
        found.clear()
        for name in BEGINS_WITH[each]:
            visit(name)
    if part != BRIDGE:
        return [*found.values()]
    own = OF_AGENTS + Calling.name
    for name in [*sys.modules]:
        if name == own or name.startswith((f"{own}.", f"{OF_AGENTS}_")):
            visit(name)
    return [*found.values()]
