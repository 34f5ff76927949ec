"""Open a session's engine, and the fields that all of its events have."""

from __future__ import annotations

from typing import TYPE_CHECKING

from anyhook.engine.engine import Engine, EngineOptions
from anyhook.engine.engine import open_engine as built
from anyhook.engine.match import Catalog
from anyhook.model.json_types import Json
from anyhook.state.plans import Setup
from anyhook.state.settings import Settings

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from anyhook.extra.agent.settings import SessionOptions


def session_facts(options: SessionOptions, name: str) -> dict[str, Json]:
    provider, _, model = name.partition(":")
    return {
        "provider": provider,
        "model": model,
        "permission_mode": options.permission,
        "auto_approve": options.permission == "auto",
        "invoked_recipe": options.recipe or "",
    }


def open_engine(options: SessionOptions, config: Settings, session: str | None, spare_model: Model | str) -> Engine:
    if options.hooks:
        return Engine.open(
            options.project,
            dialects=options.dialects,
            trust=options.trust,
            mode=options.mode,
            plugin_dirs=options.plugin_dirs,
            state_dir=options.state_dir,
            session=session,
            spare_model=spare_model,
            env=options.env,
            host="agent",
            hands_over=True,
        )
    setup = Setup.of(options.project, dict(options.env), options.dialects, options.trust)
    nothing = Catalog([], [], config, {})
    return built(EngineOptions(setup, None, "enforce", session, "agent", spare_model=spare_model), nothing)
