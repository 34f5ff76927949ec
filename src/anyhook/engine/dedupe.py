"""Dedupe: one call, several anyhook entries in one agent's files. The first entry runs the hooks, and the others repeat
its answer."""

from __future__ import annotations

import os
from os.path import exists
from time import monotonic, sleep, time

from anyhook.engine.routes import fingerprint
from anyhook.model import lean_json
from anyhook.model.decision import Decision, Texts
from anyhook.model.lean_json import short_digest
from anyhook.model.problem import WARNING, Problem
from anyhook.platform.places import state_dir
from anyhook.platform.spawn import here, is_running
from anyhook.platform.store import Store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.engine.bridge import Incoming
    from anyhook.engine.context import Context
    from anyhook.model.json_types import Json

QUICK = ("callable", "builtin", "rule")
"""Handlers that need no process, so nothing is reserved for them."""
TEXTS = ("context", "messages", "follow_ups")
KEPT = ("verdict", "effect", "reason", "hook", "tool_input", "tool_output", "prompt", "end_turn", "enforced", *TEXTS)

SAID_NOTHING = Decision("")
"""What most decisions are: no file is written for them."""
REMEMBERED_S = 5.0
"""How long a decision is remembered: an agent calls all its entries about one call within moments."""
WAIT = 0.1
"""Which part of the host's time limit an entry waits for another one. It waits only if its own hooks then still have
their full limits: the other process may be stopped, or slow."""
CLAIM_POLL_S = 0.01
WAITS_S, DECIDES_S = 0.25, 5.0
"""How often it checks that the other entry still waits for a person, and how long that one may take to decide
then."""


class Recent:
    """What another entry of the same agent decided about this call a moment ago. It is the same call if the agent gave
    it the same id in the same session, and the hooks would see the same: the whole payload, the whole environment, the
    same hook files. A shell command of the agent can call us too, before the real call and with variables of its
    choice; it cannot know the id, and another environment is another call. If nothing can be remembered, every call is
    the first."""

    def __init__(self, context: Context, incoming: Incoming) -> None:
        received, catalog = incoming.received, context.routes.catalog
        event = received.events[0]
        self._agent, self._event = incoming.table.name, event.name
        self._begun_s = 0.0
        needed_s = sum(
            [
                step.hook.limit_s
                for each in received.events
                for step in context.routes.find(each).steps
                if not step.why and step.hook.handler not in QUICK
            ]
        )
        self._deadline_s = context.deadline_s or 0.0
        left_s = self._deadline_s - monotonic()
        self._wait_until_s = monotonic() + min(needed_s + 1.0, incoming.row.limit_s * WAIT, left_s - needed_s)
        key = (
            self._agent,
            incoming.row.native,
            incoming.payload,
            context.setup.project,
            fingerprint(catalog),
            (context.mode, context.on_failure),
            sorted(context.setup.env.items()),
        )
        try:
            text = repr(key)
        except RecursionError:  # a tool's input that is nested deeply
            text = lean_json.dumps(key)  # type: ignore[arg-type]
        self._key = short_digest(text)
        self._folder = state_dir(context.setup.env)
        self._store = Store(self._folder, "firings")

    def decision(self) -> Decision | None:
        """What another entry decided, with a warning. None if this entry is the first, which is recorded, or if the
        other one takes too long."""
        while (found := self._first()) is not None:
            decided = found.get("decision")
            if found.get("silent"):
                return self._repeated({})
            if isinstance(decided, dict) and all(field in decided for field in KEPT):
                return self._repeated(decided)
            if not is_running(found.get("pid")):
                return None
            if monotonic() >= self._wait_until_s:
                return self._answered(found)
            sleep(CLAIM_POLL_S)
        return None

    def _holds(self, pid: Json) -> bool:
        """Whether a process waits for a person's answer."""
        if not exists(f"{self._folder}/asked"):
            return False
        from anyhook.state.approvals import Approvals

        return Approvals(self._folder).holds(pid)

    def _answered(self, first: dict[str, Json]) -> Decision | None:
        """The decision of an entry that waits for a person's answer; None if it does not."""
        if not self._holds(first.get("pid")):
            return None
        while self._holds(first.get("pid")) and monotonic() < self._deadline_s:
            sleep(WAITS_S)
        end_s = min(monotonic() + DECIDES_S, self._deadline_s)
        while not isinstance(decided := self._kept(first).get("decision"), dict) and monotonic() < end_s:
            sleep(CLAIM_POLL_S)
        return self._repeated(decided) if isinstance(decided, dict) else None

    def _first(self) -> dict[str, Json] | None:
        """What is known about the entry that was first; None if this one is."""
        self._begun_s = time()
        return self._store.claim(self._key, self._claim(), self._same)

    def _claim(self) -> dict[str, Json]:
        return {"pid": os.getpid(), "at": self._begun_s}

    def _same(self, claim: dict[str, Json]) -> dict[str, Json] | None:
        """What another entry has said and decided about this call, if that is not too long ago."""
        found = {**claim, **self._kept(claim)}
        at = found.get("at")
        if isinstance(at, (int, float)) and (0 <= time() - at < REMEMBERED_S or self._holds(found.get("pid"))):
            return found
        return None

    def _kept(self, claim: dict[str, Json]) -> dict[str, Json]:
        return self._store.read_object(f"{self._key}-{claim.get('at')}")

    def keep(self, decision: Decision) -> None:
        """Store what this entry decided in a separate file, for the other entries; in a warm worker, after the agent
        has the answer. A decision with a failure is not stored: another run may not fail. Old decisions are deleted
        soon, because they contain everything that hooks printed."""
        if not decision.stops and any(problem.severity == "error" for problem in decision.problems):
            return
        here.after_answer(lambda: self._keep(decision))

    def _keep(self, decision: Decision) -> None:
        if all(getattr(decision, field) == getattr(SAID_NOTHING, field) for field in KEPT):
            self._store.update_claim(self._key, {**self._claim(), "silent": True})
            return
        made: dict[str, Json] = {field: getattr(decision, field) for field in KEPT}
        for field in TEXTS:
            made[field] = [*getattr(decision, field)]
        try:
            data = lean_json.dumps({"at": time(), "decision": made}).encode()
        except (TypeError, ValueError, RecursionError):
            return  # then the next one is the first as well
        self._store.write(f"{self._key}-{self._begun_s}", data)

    def _repeated(self, known: dict[str, Json]) -> Decision:
        made: dict[str, object] = {field: known[field] for field in KEPT if field in known}
        for field in TEXTS:
            texts = known.get(field)
            made[field] = Texts(map(str, texts)) if isinstance(texts, list) else Texts()
        problem = Problem(
            "fired-twice",
            "another anyhook entry had already run the hooks; its decision is repeated",
            self._agent,
            "this agent has several entries of anyhook for one event",
            f"Take one of them out: anyhook uninstall {self._agent}, with --scope user or project.",
            WARNING,
        )
        return Decision(self._event).replace(**made, problems=(problem,))
