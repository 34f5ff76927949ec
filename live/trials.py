"""The trials: which hooks are there, what the model does, and what to look for afterwards. A trial may try several
effects at once where they do not meet."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from anyhook.live.observed import NOTHING, STOPPED, TOLD, WORKS
from anyhook.live.script import Step

OLD_PROMPT = "Please do PROMPTOLD what has to be done."
OUTPUT = "OUTPUTOLD"
RUNS = Step(tool="shell", input={"command": f"echo done > ran.txt; echo {OUTPUT}"})
FAILS = Step(tool="shell", input={"command": "echo broken >&2; exit 3"})
CHANGED = "echo done > changed.txt; echo changed"
DONE, MORE = Step("first done"), Step("second done")


@dataclass(frozen=True)
class Evidence:
    """What is left of a run."""

    ran: bool
    changed: bool
    requests: tuple[str, ...]
    """What the model was told each time."""
    shown: str
    """What the agent printed."""
    fired: frozenset[str]

    def told(self, word: str) -> bool:
        return any(word in text for text in self.requests)


Look = Callable[[Evidence], str]


@dataclass(frozen=True)
class Trial:
    """Hooks, steps, and what each effect came to."""

    hooks: Mapping[str, str]
    """Path in the home → text."""
    looks: Mapping[tuple[str, str], Look]
    steps: tuple[Step, ...] = (RUNS, DONE, MORE)
    prompt: str = OLD_PROMPT
    executables: tuple[str, ...] = field(default=())


def answering(answer: Mapping[str, Any], *, once: bool = False) -> str:
    """A command that answers so; `once`: the first time only, for what would otherwise go round in circles."""
    said = f"cat >/dev/null; printf '%s' '{json.dumps(answer)}'"
    return f"test -e ~/once || {{ touch ~/once; {said}; }}" if once else said


def kodik(**commands: str) -> dict[str, str]:
    hooks = {event: [{"hooks": [{"type": "command", "command": command}]}] for event, command in commands.items()}
    return {"Documents/Kodik/Hooks/hooks.json": json.dumps({"hooks": hooks})}


def kolega(**answers: Mapping[str, Any]) -> dict[str, str]:
    return kolega_commands(**{event: answering(answer) for event, answer in answers.items()})


def kolega_commands(**commands: str) -> dict[str, str]:
    hooks = {
        event: [{"hooks": [{"type": "command", "command": shlex.join(["sh", "-c", command])}]}]
        for event, command in commands.items()
    }
    return {".local/state/kolega-code/hooks.json": json.dumps({"schema_version": 1, "hooks": hooks})}


def agenthooks(trigger: str, answer: Mapping[str, Any]) -> dict[str, str]:
    folder = ".config/agents/hooks/trial"
    front = f"---\nname: trial\ndescription: A trial.\ntrigger: {trigger}\n---\n"
    return {f"{folder}/HOOK.md": front, f"{folder}/scripts/run": f"#!/bin/sh\n{answering(answer)}\n"}


def told(word: str) -> Look:
    return lambda seen: WORKS if seen.told(word) else NOTHING


def feedback(seen: Evidence) -> str:
    """After a tool a block tells the model and stops nothing."""
    return TOLD if seen.told("WORDREFUSED") else NOTHING


def heard(word: str) -> Look:
    """For people: what is printed at all."""
    return lambda seen: WORKS if word in seen.shown else TOLD if seen.told(word) else NOTHING


def stopped(seen: Evidence) -> str:
    return NOTHING if seen.ran else WORKS


def asked(seen: Evidence) -> str:
    """Without a person, an agent that asks refuses."""
    return NOTHING if seen.ran else STOPPED


def rewritten(seen: Evidence) -> str:
    return NOTHING if seen.ran else WORKS if seen.changed else STOPPED


def replaced(seen: Evidence) -> str:
    if not seen.told("WORDOUTPUT"):
        return NOTHING
    return TOLD if any(OUTPUT in text.replace(f"echo {OUTPUT}", "") for text in seen.requests) else WORKS


def ended(seen: Evidence) -> str:
    if len(seen.requests) == 1:
        return WORKS
    return TOLD if seen.told("WORDEND") else NOTHING


def unsent(seen: Evidence) -> str:
    if not seen.told("PROMPTOLD"):
        return WORKS
    return TOLD if seen.told("WORDREFUSED") else NOTHING


def reworded(seen: Evidence) -> str:
    if not seen.told("PROMPTNEW"):
        return NOTHING
    return TOLD if seen.told("PROMPTOLD") else WORKS


def went_on(seen: Evidence) -> str:
    return WORKS if seen.told("WORDMORE") and len(seen.requests) > 2 else NOTHING


def context(word: str) -> str:
    return answering({"additional_context": word})


TRIALS: Mapping[str, Trial] = {
    "context": Trial(
        kodik(
            SessionStart=context("WORDSTART"),
            UserPromptSubmit=context("WORDPROMPT"),
            PreToolUse=context("WORDBEFORE"),
            PostToolUse=context("WORDAFTER"),
        ),
        {
            ("session_start", "context"): told("WORDSTART"),
            ("user_prompt_submit", "context"): told("WORDPROMPT"),
            ("pre_tool", "context"): told("WORDBEFORE"),
            ("post_tool", "context"): told("WORDAFTER"),
        },
    ),
    "context after a failure": Trial(
        kodik(PostToolUse=context("WORDAFTER")),
        {("post_tool_failure", "context"): told("WORDAFTER")},
        (FAILS, DONE),
    ),
    "message": Trial(
        kolega(
            SessionStart={"systemMessage": "WORDSTART"},
            UserPromptSubmit={"systemMessage": "WORDPROMPT"},
            PreToolUse={"systemMessage": "WORDBEFORE"},
            PostToolUse={"systemMessage": "WORDAFTER"},
            Stop={"systemMessage": "WORDSTOP"},
        ),
        {
            ("session_start", "message"): heard("WORDSTART"),
            ("user_prompt_submit", "message"): heard("WORDPROMPT"),
            ("pre_tool", "message"): heard("WORDBEFORE"),
            ("post_tool", "message"): heard("WORDAFTER"),
            ("stop", "message"): heard("WORDSTOP"),
        },
    ),
    "a refused call": Trial(kodik(PreToolUse="echo WORDREFUSED >&2; exit 2"), {("pre_tool", "block"): stopped}),
    "a call to be asked about": Trial(
        agenthooks("before_tool", {"decision": "ask", "reason": "WORDASK"}), {("pre_tool", "ask"): asked}
    ),
    "other input": Trial(
        kodik(PreToolUse=answering({"modified_input": {"command": CHANGED}})), {("pre_tool", "input"): rewritten}
    ),
    "a result refused": Trial(kodik(PostToolUse="echo WORDREFUSED >&2; exit 2"), {("post_tool", "block"): feedback}),
    "a failure refused": Trial(
        kodik(PostToolUse="echo WORDREFUSED >&2; exit 2"),
        {("post_tool_failure", "block"): feedback},
        (FAILS, DONE),
    ),
    "the turn's end": Trial(
        # There a refused result ends the turn.
        kolega_commands(PostToolUse="echo WORDEND >&2; exit 2"),
        {("post_tool", "end_turn"): ended},
    ),
    "other output": Trial(
        kolega(PostToolUse={"hookSpecificOutput": {"updatedToolOutput": "WORDOUTPUT"}}),
        {("post_tool", "output"): replaced},
    ),
    "a refused prompt": Trial(
        kodik(UserPromptSubmit="echo WORDREFUSED >&2; exit 2"), {("user_prompt_submit", "block"): unsent}
    ),
    "another prompt": Trial(
        kodik(UserPromptSubmit=answering({"modified_prompt": "Do PROMPTNEW instead."})),
        {("user_prompt_submit", "prompt"): reworded},
    ),
    "a refused stop": Trial(
        kodik(Stop=answering({"decision": "block", "reason": "WORDMORE"}, once=True)), {("stop", "block"): went_on}
    ),
}
