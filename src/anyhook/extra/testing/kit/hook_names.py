"""Hook names: which hooks people mean by an id, a name or a part of an id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.engine.hook_names import likely
from anyhook.model.hook import DISABLED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.engine.routes import Catalog


def means(name: str, identity: str, hook_name: str = "") -> bool:
    """Whether a name means a hook: its id, its name, or a part of its id."""
    return name == hook_name or name in identity


def keep_only(catalog: Catalog, names: Sequence[str]) -> Catalog:
    """The catalog with only those hooks on that the names mean. LookupError for one that means none."""
    hooks = catalog.hooks
    for name in names:
        if not any(means(name, hook.id, hook.name) for hook in hooks):
            known = ", ".join(hook.id for hook in hooks) or "none"
            raise LookupError(f"there is no hook `{name}`.{likely(name, hooks)} Hooks: {known}")
    kept = [
        hook
        if any(means(name, hook.id, hook.name) for name in names)
        else hook.replace(status=DISABLED, why="not asked for")
        for hook in hooks
    ]
    return catalog.replace(hooks=kept)
