"""Trust: which hooks of a project may run. It pins what would run, compares it with the ledger, and asks nobody."""

from __future__ import annotations

from anyhook.model.hook import ARMED, CHANGED, DISABLED, UNTRUSTED, Hook, Layer
from anyhook.stores.ledger import Item

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.grammar.files import Files
    from anyhook.grammar.rows import Dialect, Roots
    from anyhook.stores.ledger import Ledger

MODES = ("ask", "all", "native", "none")


def pin(hook: Hook, dialect: Dialect, roots: Roots, files: Files) -> Item:
    """What an approval of this hook pins: its declaration, and the bytes of the files it names."""
    pinned: dict[str, str] = {}
    for path in dialect.names(hook, files, roots.project, roots.home):
        inside = path.startswith(roots.project + "/")
        digest, binary = files.digest(path)
        # A compiled program outside the project is the system's, and changes with its updates.
        if inside or not binary:
            pinned[path] = digest
    return Item(hook.id, hook.definition, pinned)


def empty_lists(layer: Layer) -> list[Item]:
    """Lists of a project that hold nothing and yet replace the user's: they have to be approved as well."""
    listed = {hook.native_event for hook in layer.hooks}
    return [
        Item(f"{layer.source.dialect}:{layer.source.scope}:{event}:[]", "[]", {})
        for event in layer.replaces
        if event not in listed
    ]


def items(dialect: Dialect, layer: Layer, roots: Roots, files: Files) -> list[Item]:
    """Everything in a project's layer that wants approval."""
    hooks = [hook for hook in layer.hooks if hook.status != DISABLED]
    return [*(pin(hook, dialect, roots, files) for hook in hooks), *empty_lists(layer)]


def trust(dialect: Dialect, layers: Sequence[Layer], mode: str, ledger: Ledger, roots: Roots, files: Files) -> list[Layer]:
    """The layers, with every hook of the project marked as far as it is not trusted."""
    return [
        _judge(dialect, layer, mode, ledger, roots, files) if layer.source.scope == "project" else layer for layer in layers
    ]


def _judge(dialect: Dialect, layer: Layer, mode: str, ledger: Ledger, roots: Roots, files: Files) -> Layer:
    if mode == "all" or (mode == "native" and (not dialect.gated_natively or _path_trusted(dialect, ledger, roots, files))):
        return layer
    if mode != "ask":
        why = "--trust none" if mode == "none" else "the dialect trusts projects by path, and this one is not trusted"
        return layer.replace(hooks=tuple(_mark(hook, UNTRUSTED, why) for hook in layer.hooks), replaces=())
    approved = ledger.items(roots.project)
    hooks: list[Hook] = []
    waiting: set[str] = set()
    for hook in layer.hooks:
        known = approved.get(hook.id)
        if hook.status == DISABLED or (known is not None and known.same_as(pin(hook, dialect, roots, files))):
            hooks.append(hook)
            continue
        waiting.add(hook.native_event)
        hooks.append(
            _mark(hook, UNTRUSTED, "not approved yet; see `anyhook trust`")
            if known is None
            else _mark(hook, CHANGED, "changed since it was approved; see `anyhook trust`")
        )
    waiting.update(item.id.rsplit(":", 2)[-2] for item in empty_lists(layer) if item.id not in approved)
    return layer.replace(hooks=tuple(hooks), replaces=tuple(event for event in layer.replaces if event not in waiting))


def _path_trusted(dialect: Dialect, ledger: Ledger, roots: Roots, files: Files) -> bool:
    import os

    listed = dialect.trusted_natively(roots, files) if dialect.trusted_natively else frozenset()
    return roots.project in ledger.approvals or roots.project in {os.path.realpath(path) for path in listed}


def _mark(hook: Hook, status: str, why: str) -> Hook:
    return hook.replace(status=status, why=why) if hook.status != DISABLED else hook


def trusted(hook: Hook) -> bool:
    return hook.status not in (UNTRUSTED, CHANGED)


__all__ = ["ARMED", "MODES", "empty_lists", "items", "pin", "trust", "trusted"]
