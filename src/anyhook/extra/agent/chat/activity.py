"""What hooks did, as text: which hook blocked, rewrote, added or failed, one line each. Hooks that did nothing are left
out; `--debug` shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from anyhook.cli.view.console import BAD, FAINT, WARN
from anyhook.extra.agent.chat.screen import Screen, call_line
from anyhook.extra.agent.hook_debug import debug_lines
from anyhook.extra.agent.status_line import INDENT, nesting
from anyhook.model.decision import Decision
from anyhook.model.event import Event
from anyhook.model.firing import Firing

BLOCKS = {
    "deny_tool": "denied the tool",
    "deny_permission": "denied the permission",
    "abort": "refused",
    "end_turn": "ended the turn",
    "keep_working": "keeps the agent working",
    "skip": "skipped it",
    "feedback": "objects",
    "advisory": "objects, which stops nothing here",
}
TOLD_CHANGES = (
    ("tool_input", "rewrote the input"),
    ("tool_output", "replaced the output"),
    ("prompt", "rewrote the prompt"),
    ("history", "replaced the conversation"),
    ("recipe", "calls a recipe"),
    ("follow_ups", "sends the agent on"),
    ("context", "added context"),
)
RAN = ("ran", "background", "broken")


class Activity:
    """Everything that hooks do in one session."""

    def __init__(self, screen: Screen, shown: Collection[str]) -> None:
        """`shown` are the dialects whose hooks are shown in detail."""
        self.screen, self.shown = screen, shown
        self.ran: Counter[str] = Counter()
        self.blocked: Counter[str] = Counter()
        self._told: set[tuple[str, str]] = set()

    def debug(self, firing: Firing) -> None:
        for line in debug_lines(firing, self.shown):
            self.screen.line(line, FAINT, nesting())

    def ends(self, event: Event, decision: Decision) -> None:
        self.screen.status.ends(event, decision)
        self._count(decision)
        if decision.effect == "deny_tool":
            self.screen.explained = decision.reason or ""
        indent = nesting() + INDENT
        for style, line in lines(decision):
            self.screen.prose(line, style, indent)
        for text in _instead(event, decision):
            self.screen.line(self.screen.fitted(f"{indent}{INDENT}→ {text}"), FAINT)
        for message in decision.messages:
            self.screen.prose(message, WARN, indent)
        for problem in decision.problems:
            key = (problem.code, problem.what)
            if key not in self._told:
                self._told.add(key)
                self.screen.prose(f"{problem.severity}: {problem.sentence()} [{problem.code}]", WARN, indent)

    def _count(self, decision: Decision) -> None:
        for report in decision.hooks:
            if report.status in RAN:
                self.ran[report.id] += 1
            if report.verdict == "block":
                self.blocked[report.id] += 1


def _instead(event: Event, decision: Decision) -> list[str]:
    """What a hook's rewrites changed, one line each."""
    given = decision.tool_input if _runs(decision) else None
    made = [call_line(str(event.get("tool")), given)] if given is not None else []
    return [*made, *([decision.prompt] if decision.prompt is not None else []), *decision.follow_ups]


def _runs(decision: Decision) -> bool:
    """Whether the tool runs. If it is denied, rewrites of its input do not matter."""
    return decision.effect != "deny_tool"


def _is_news(decision: Decision, field: str) -> bool:
    """Whether a change counts, and is not the reason once more in the words for the model."""
    if field == "context" and decision.reason:
        return any(decision.reason not in text for text in decision.context)
    return field != "tool_input" or _runs(decision)


def lines(decision: Decision) -> list[tuple[str, str]]:
    """Style and text of each thing that the hooks of one event did."""
    made: list[tuple[str, str]] = []
    where = f"({decision.event}{'' if decision.enforced else ', shadow mode'})"
    if decision.verdict == "block":
        name = next((report.name for report in decision.hooks if report.id == decision.hook), decision.hook or "?")
        reason = f": {decision.reason}" if decision.reason else ""
        made.append((BAD, f"hook {name} {BLOCKS.get(decision.effect or '', 'blocked')} {where}{reason}"))
    # The blocking hook is named; a decision does not say which other hook changed something.
    ran = ", ".join(report.name for report in decision.hooks if report.status == "ran" and report.id != decision.hook)
    ran = ran or (name if decision.verdict == "block" else "")
    done = _done(decision)
    if done and ran:
        made.append((FAINT, f"hook {ran} {', '.join(done)} {where}"))
    return made


def _done(decision: Decision) -> list[str]:
    """What hooks did, but for a block."""
    done = [words for field, words in TOLD_CHANGES if getattr(decision, field) and _is_news(decision, field)]
    if decision.verdict == "allow":
        done.insert(0, "allowed it")
    elif decision.verdict == "ask":
        done.insert(0, "wants you to be asked" + (f" ({decision.reason})" if decision.reason else ""))
    if decision.end_turn and decision.verdict != "block":
        done.append("ended the turn")
    return done
