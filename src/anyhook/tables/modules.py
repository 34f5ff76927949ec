"""Python callables as dialects name them (`module.path:function`): whether they are there. Nothing is imported."""

from __future__ import annotations

import re
import sys
from importlib.machinery import PathFinder

from anyhook.documents.read import Unreadable, read_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec


def missing_callable(name: str, folders: Sequence[str]) -> str:
    """What is missing of a callable; "" if nothing seems to be. `folders` are searched first."""
    module, _, function = name.partition(":")
    parts = module.split(".")
    path: Sequence[str] | None = None
    spec: ModuleSpec | None = None
    for depth, part in enumerate(parts):
        full = ".".join(parts[: depth + 1])
        spec = _find(full, path, folders)
        if spec is None:
            package = ".".join(parts[:depth])
            return f"`{package}` has no module `{part}`" if package else f"there is no module `{full}`"
        path = spec.submodule_search_locations
        if path is None and depth < len(parts) - 1:
            return f"`{full}` is a module, not a package"
    return _missing_function(spec, module, function.split(".")[0]) if spec is not None else ""


def _find(full: str, path: Sequence[str] | None, folders: Sequence[str]) -> ModuleSpec | None:
    if path is not None:
        return PathFinder.find_spec(full, list(path))
    found = PathFinder.find_spec(full, list(folders))
    for finder in () if found else sys.meta_path:
        found = finder.find_spec(full, None)
        if found is not None:
            break
    return found


def _missing_function(spec: ModuleSpec, module: str, function: str) -> str:
    """Only what is certain: a source that never mentions the name, and that cannot get it from elsewhere."""
    if not spec.origin or not spec.origin.endswith(".py"):
        return ""
    try:
        source = read_bytes(spec.origin).decode("utf-8", "replace")
    except (OSError, Unreadable):
        return f"{spec.origin} cannot be read"
    if re.search(rf"\b{re.escape(function)}\b|import \*|__getattr__|globals\(|setattr\(", source):
        return ""
    return f"`{module}` ({spec.origin}) has no `{function}`"
