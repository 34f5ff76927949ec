"""Own modes: hooks that enforce while everything else is in shadow mode, because their user's settings say so."""

from __future__ import annotations

from anyhook.documents.managed import SCOPE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from anyhook.model.event import Event
    from anyhook.model.hook import Hook
    from anyhook.state.settings import Settings
    from anyhook.walk.context import Context


def with_own_modes(context: Context, events: Sequence[Event]) -> Context:
    """The context of a call in shadow mode. If a hook of one of its events enforces, the call is enforced and every
    other hook gets shadow mode itself: it then neither decides nor prevents an enforcing hook from being asked."""
    modes = context.config.hook_mode
    found = {step.hook.id for event in events for step in context.routes.steps(event)}
    if not any(modes.get(key) == "enforce" for key in found):
        return context
    own = {key: modes.get(key, "shadow") for key in found | modes.keys()}
    return context.replace(mode="enforce", config=context.config.replace(hook_mode=own))


def only_shadow(config: Settings, hooks: Sequence[Hook]) -> Settings:
    """The settings of a call that asks for shadow mode: only the organisation's hooks enforce."""
    kept = {hook.id for hook in hooks if hook.scope == SCOPE}
    modes = config.hook_mode.items()
    return config.replace(hook_mode={key: mode for key, mode in modes if mode == "shadow" or key in kept})
