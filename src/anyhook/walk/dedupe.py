"""Dedupe: one event, several anyhook entries. The hooks run for the first that comes, and the others give the same
answer in their own agent's words."""

from __future__ import annotations

from anyhook.documents.places import state_dir
from anyhook.model.decision import Decision, Texts
from anyhook.state.decisions import RecentDecision
from anyhook.tables.translate import renamed, restored

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from anyhook.walk.bridge import Incoming
    from anyhook.walk.context import Context

TEXTS = ("context", "messages", "follow_ups")
KEPT = ("verdict", "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "end_turn", "enforced", *TEXTS)


class Recent:
    """What another anyhook entry decided about this very call a moment ago."""

    def __init__(self, context: Context, incoming: Incoming) -> None:
        received, catalog = incoming.received, context.routes.catalog
        event = received.events[0]
        self._agent, self._event, self._split = incoming.table.name, event.name, received.split
        self._deadline_s = context.deadline_s or 0.0
        self._inputs = event.inputs or {}
        given = event.data.get("input")
        ours = restored(given, self._inputs) if isinstance(given, dict) and not received.split else received.input
        key = (
            event.name,
            event.data.get("session"),
            event.ours or event.data.get("tool"),
            sorted(ours.items(), key=_first) if ours else event.data.get("prompt"),
            context.setup.project,
            [(hook.id, hook.definition, hook.status) for hook in catalog.hooks],
            sorted(catalog.stamps.items(), key=_first),
            (context.mode, context.on_failure),
        )
        call_id = str(event.data.get("call_id") or "")
        self._kept = RecentDecision(state_dir(context.setup.env), key, self._agent, call_id)

    def decision(self) -> Decision | None:
        """That decision, with a warning; None where this entry is the first."""
        known = self._kept.decided(self._deadline_s)
        if known is None:
            return None
        from anyhook.model.problem import WARNING, Problem

        made: dict[str, object] = {field: known[field] for field in KEPT if field in known}
        for field in TEXTS:
            texts = known.get(field)
            made[field] = Texts(map(str, texts)) if isinstance(texts, list) else Texts()
        given = known.get("tool_input")
        if isinstance(given, dict) and not self._split:
            made["tool_input"] = renamed(given, self._inputs)
        problem = Problem(
            "fired-twice",
            "another anyhook entry had already run the hooks; its decision is repeated",
            self._agent,
            "agents have several entries of anyhook for one event",
            f"Take one of them out: anyhook uninstall {self._agent}, with --scope user or project.",
            WARNING,
        )
        return Decision(self._event).replace(**made, problems=(problem,))

    def keep(self, decision: Decision) -> None:
        """What this entry decided, for the others."""
        made: dict[str, Json] = {field: getattr(decision, field) for field in KEPT}
        for field in TEXTS:
            made[field] = [*getattr(decision, field)]
        if decision.tool_input is not None and not self._split:
            made["tool_input"] = restored(decision.tool_input, self._inputs)
        self._kept.keep(made)


def _first(pair: tuple[str, object]) -> str:
    return pair[0]
