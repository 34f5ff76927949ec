"""Facts for hooks: what a tool call would do, in the payload and in a variable, if the settings ask for it."""

from __future__ import annotations

from anyhook.model import lean_json
from anyhook.model.event import Event
from anyhook.platform.places import home_of
from anyhook.rules.calls import facts_of_event
from anyhook.tables.rows import Dialect, Scene

VARIABLE = "ANYHOOK_FACTS"
MAX_VARIABLE = 100_000
"""The longest variable that the system accepts, in bytes; beyond it, hooks have only the field of the payload."""


def with_facts(scene: Scene, event: Event, dialect: Dialect) -> Scene:
    """The scene with the facts of its call: as a field of the payload, and as a variable if the dialect allows
    variables that its product does not document."""
    facts = facts_of_event(event, cwd=scene.project, home=home_of(scene.env)).as_json()
    text = lean_json.dumps(facts)
    if dialect.closed_env or len(text) > MAX_VARIABLE:
        return scene.replace(facts=facts)
    return scene.replace(facts=facts, env={**scene.env, VARIABLE: text})
