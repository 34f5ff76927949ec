"""Finds the agents of other packages, when the stored list is out of date: it reads the packages' entry points, loads
each agent once, and checks its tables."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from anyhook.documents.files import Files
from anyhook.model.hook import Layer, Source
from anyhook.platform.places import content, open_regular, stamp
from anyhook.tables import inprocess
from anyhook.tables.cells import everything
from anyhook.tables.host_rows import Host
from anyhook.tables.registry import BRIDGED, CALLS, DECLARES, GROUP, BadTable, part
from anyhook.tables.rows import Dialect, Roots
from anyhook.tables.self_check import mistakes

if TYPE_CHECKING:
    from anyhook.tables.registry import Row, Seen


def found(folders: Sequence[str], known: Sequence[str]) -> tuple[tuple[Row, ...], list[Seen]]:
    """The agents, and what the answer depends on."""
    seen: list[Seen] = [(folder, stamp(folder), "") for folder in folders]
    rows: dict[str, Row] = {}
    for name, module in _lines(folders):
        if name in known or name in rows or not _is_name(name):
            continue
        rows[name], files = _row(name, module)
        seen += [(file, stamp(file), content(file)) for file in files]
    return tuple(rows[name] for name in sorted(rows)), seen


def _is_name(name: str) -> bool:
    return name.replace("-", "_").isidentifier() and name == name.lower()


def _lines(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        try:
            entries = sorted(os.listdir(folder))
        except OSError:
            continue
        for entry in entries:
            if entry.endswith((".dist-info", ".egg-info")):
                yield from _named(f"{folder}/{entry}/entry_points.txt")


def _named(path: str) -> Iterator[tuple[str, str]]:
    """The lines of our group in one package's entry points."""
    try:
        with open_regular(path) as file:
            data = file.read()
    except OSError:
        return
    ours = False
    for raw in data.decode("utf-8", "replace").splitlines() if GROUP in data else ():
        line = raw.strip()
        if line.startswith("["):
            ours = line.encode() == GROUP
        elif ours and "=" in line and not line.startswith(("#", ";")):
            name, _, module = line.partition("=")
            yield name.strip(), module.partition(":")[0].partition("[")[0].strip()


def _misnamed(module: str, name: str, dialect: object, host: object) -> Iterator[str]:
    """Tables of the agent under a wrong name."""
    for wanted, found, kind in (("DIALECT", dialect, Dialect), ("HOST", host, Host)):
        for key, value in vars(sys.modules[module]).items() if found is None else ():
            if isinstance(value, kind) and value.name == name:
                yield f"{key}: it is a {kind.__name__}, and its name has to be {wanted}"
    if "changes" in vars(sys.modules[module]):
        yield "changes: what it returned belongs in the tuple CHANGES"


def _place(error: Exception, module: str) -> str:
    """The line of the agent's own file where it failed."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__", "").partition(".")[0] == module.partition(".")[0]:
            place = f" ({os.path.basename(trace.tb_frame.f_code.co_filename)}, line {trace.tb_lineno})"
        trace = trace.tb_next
    return place


def _row(name: str, module: str) -> tuple[Row, list[str]]:
    """What an agent does, according to its tables. A broken agent stays in the lists, so that it is reported wherever
    hooks are, and its calls are answered."""
    roles, variables = DECLARES | BRIDGED, ()
    try:
        dialect, host = part(module, "DIALECT"), part(module, "HOST")
        wrong = "; ".join([*mistakes(name, dialect, host), *_misnamed(module, name, dialect, host)])
        if not wrong:
            variables = tuple(dialect.variables) if dialect is not None else ()
            calls = 0 if host is None else BRIDGED if host.entry is None else CALLS
            roles = calls if dialect is None else DECLARES | calls
    except Exception as error:  # noqa: BLE001 (third-party code: reported when its table is needed)
        wrong = f"{type(error).__name__}: {error}{_place(error, module)}"
    loaded = [
        str(value.__file__)
        for key, value in list(sys.modules.items())
        if (key == module or key.startswith(f"{module}.")) and getattr(value, "__file__", None)
    ]
    return (name, roles, variables, module, wrong), loaded


# A broken agent: one whose table cannot be loaded. It is listed as a dialect that declares nothing and reports what is
# wrong. It has every event, so that hooks that a plan remembers, and what its files may guard, are never silently off.


def broken(name: str, module: str, error: Exception) -> Dialect:
    why = str(error) if isinstance(error, BadTable) else f"{type(error).__name__}: {error}"
    what = f"the agent `{name}` cannot be loaded; none of its hooks runs"

    def find(_roots: Roots) -> list[Source]:
        return [Source(name, "user", module, "")]

    def load(source: Source, files: Files) -> Layer:
        files.problem(
            "broken-agent",
            what,
            module,
            why,
            f"Correct or remove the package that brings `{module}`.",
        )
        return Layer(source, ())

    return inprocess.DIALECT.replace(
        name=name, title=name, find=find, load=load, broken=f"{what} ({why})", match=everything, replies={}, chains=()
    )
