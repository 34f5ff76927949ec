"""Which model a handler asks: the caller's for every role, or the user's for the handler's role, or the host's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.model.hook import Hook
from anyhook.state.settings import Settings
from anyhook.tables.rows import Asking, Dialect

if TYPE_CHECKING:
    from anyhook.handlers.model_client import AnyModel


def role_of(hook: Hook, asking: Asking) -> str:
    return asking.roles.get(str(hook.spec.get("model") or ""), next(iter(asking.roles.values())))


def asked(
    hook: Hook, dialect: Dialect, model: AnyModel | None, settings: Settings, spare: AnyModel | None
) -> tuple[AnyModel | None, str]:
    """The model that the handler asks, and its name, if there is one. `spare` is the host's model, for roles without
    one in the user's settings."""
    if dialect.asking is None:
        return None, ""
    role = role_of(hook, dialect.asking)
    found = model or settings.models.get(role) or settings.models.get("fast") or spare
    return found, name_of(found) if found else ""


def name_of(model: AnyModel) -> str:
    return model if isinstance(model, str) else f"{model.system}:{model.model_name}"
