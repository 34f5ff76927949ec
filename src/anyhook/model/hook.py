"""Source and Hook: where a declaration was found, and one handler from it. Plain values, so that a catalog can be
stored."""

from __future__ import annotations

from anyhook.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from anyhook.model.json_types import Json
    from anyhook.model.words import HandlerKind, HookScope, HookState, OffCause
    from anyhook.rules.language import Condition, Packed

# Statuses of a hook in the catalog.
ARMED: HookState = "armed"
UNTRUSTED: HookState = "untrusted"
CHANGED: HookState = "changed"
DISABLED: HookState = "disabled"
BROKEN: HookState = "broken"

BUILTIN: HookScope = "builtin"
"""The scope of hooks that are part of a product."""
ASKING: tuple[HandlerKind, ...] = ("prompt", "agent")
"""Kinds of handlers that a model answers."""


OF_POLICY = "policy"
"""In the id of a policy's hook, the word before the policy's name."""


class Source(Record):
    """One place where a dialect's hooks may be declared: a file or a folder, which may not exist."""

    dialect: str
    scope: HookScope
    path: str
    root: str
    """The folder that the scope's variables name: the project, the user's hooks folder, the plugin."""
    label: str = ""
    """The plugin's id."""
    project: str = ""
    """The folder that it is read for, where that matters to what it declares."""
    within: str = ""
    """The folder that everything it uses must be in; "" for anywhere."""

    def hook(
        self, identity: str, name: str, native: str, events: tuple[str, ...], spec: dict[str, Json], limit_s: float,
        *, place: tuple[str | int, ...] = (), matcher: Json = None, handler: HandlerKind = "command", **more: Any,
    ) -> Hook:  # fmt: skip
        """A handler that is declared here; `more` are fields of the hook."""
        return Hook(
            f"{self.dialect}:{identity}", name, self.dialect, self.scope, self.path, place, self.root, self.label,
            native, events, matcher, handler, spec, limit_s, **more,
        )  # fmt: skip


class Hook(Record):
    """One handler, from one declaration. Every field is a plain value: a compiled plan stores hooks as tuples."""

    id: str
    name: str
    dialect: str
    scope: HookScope
    source: str
    """The file it is declared in."""
    place: tuple[str | int, ...] = ()
    """Where in that file, as a path of keys and indexes; () for the file itself."""
    root: str = ""
    label: str = ""
    native_event: str = ""
    """The dialect's own name; "" if an executable has not been asked for it yet."""
    events: tuple[str, ...] = ()
    matcher: Json = None
    handler: HandlerKind = ""
    spec: dict[str, Json] = {}  # noqa: RUF012 (nobody changes it)
    """The handler's own settings, as checked on loading."""
    limit_s: float = 0.0
    background: bool = False
    priority: int | None = None
    definition: str = ""
    """The declaration as canonical JSON; an approval covers it."""
    files: tuple[str, ...] = ()
    """The scripts that the declaration names; an approval covers their bytes."""
    status: HookState = ARMED
    why: str = ""
    line: int | None = None
    project: str = ""
    """The folder whose file declares it, if that is above the folder that the agent works in. "" otherwise."""
    condition: Condition | Packed | None = None
    """When it applies, if it is a rule."""
    pins: Mapping[str, str] = {}
    """What an approved hook of a project runs: path → what it held when the approval was checked (`places.content`)."""
    unpinned: tuple[str, ...] = ()
    """What such a hook runs as well and no approval pins, each as the end of "it also runs …"."""
    off_cause: OffCause = ""
    """Why it is disabled."""
    off_by: str = ""
    """The file that turns all hooks off, if that is the cause."""

    @property
    def trusted(self) -> bool:
        """Whether its user approved it, or need not be asked."""
        return self.status not in (UNTRUSTED, CHANGED)

    @property
    def listens(self) -> tuple[str, ...]:
        """Events that it remembers, besides its own, if it is a rule about what a session did before."""
        listed = self.spec.get("listens")
        return (*map(str, listed),) if isinstance(listed, list) else ()

    @property
    def group(self) -> str:
        """The pack, plugin, file or policy that its id names between scope and event, or "". A pack that a policy uses
        is named as everywhere."""
        owner = self.id.partition(f":{self.native_event}:")[0].split(":") if self.native_event else []
        return owner[3] if self.policy and len(owner) > 3 else owner[2] if len(owner) > 2 else ""

    @property
    def policy(self) -> str:
        """The team's policy that it belongs to, or ""."""
        parts = self.id.split(":", 3)
        return parts[2] if parts[1:2] == [OF_POLICY] and len(parts) > 3 else ""

    @property
    def short_name(self) -> str:
        """The name that people use: the end of its id, with its pack, if it has one: `git/forced-push`."""
        return "/".join(filter(None, (self.group, self.id.rpartition(":")[2])))

    def where(self) -> str:
        """The source and line, in a form that terminals make clickable."""
        return f"{self.source}:{self.line}" if self.line else self.source


class Layer(Record):
    """What one source held: its hooks in order, and its switches for the layers before it."""

    source: Source
    hooks: tuple[Hook, ...]
    replaces: tuple[str, ...] = ()
    """Native events whose earlier lists this layer replaces as a whole, even by an empty list."""
    all_off: bool | None = None
    """What the source says about all hooks of its dialect, wherever they are declared: True turns them off, False on
    again. The last layer that says anything counts."""
