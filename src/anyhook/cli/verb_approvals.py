"""`anyhook approvals`: the calls that wait for a person, and the person's answer. Only a terminal can give one."""

from __future__ import annotations

import os

import click

from anyhook.cli import DONE, FINDINGS, BadCall, render
from anyhook.cli.options import JsonOptions, option, switch
from anyhook.cli.person import require_person, require_terminal
from anyhook.cli.verbs import verb
from anyhook.cli.view.approval_text import TITLE, approval_lines
from anyhook.cli.view.console import prefixed
from anyhook.platform.places import state_dir
from anyhook.state.approvals import Approvals, PersonsAnswer, Waiting

NOTHING_WAITS = (
    "nothing waits under {}: it was answered, its time is over, or it never waited. `anyhook approvals` shows all."
)
ANSWERS = ("allow", "deny")


class ApprovalsOptions(JsonOptions):
    because: str | None = option("--because", "With deny: why, for the agent.", "TEXT")
    session: bool = switch("--session", "With allow: what it asks about may pass for the rest of the session.")


@verb("approvals", ApprovalsOptions, "anyhook approvals allow 3f9c2a10", [click.Argument(["words"], nargs=-1)])
def approvals(words: tuple[str, ...], options: ApprovalsOptions) -> int:
    """Show the calls that wait for a person (`[ask] where = "elsewhere"` in the settings), or answer one: WORDS is
    `allow ID` or `deny ID`. Only a person at a terminal can answer. A yes counts once, for exactly this call; every
    other hook still counts.

    \b
    Exit status: 0 done, 1 the answer was not taken, 3 bad call.
    """
    waiting = Approvals(state_dir(os.environ))
    if not words:
        return _show(waiting, options)
    if len(words) != 2 or words[0] not in ANSWERS:
        raise BadCall("write `anyhook approvals`, `anyhook approvals allow ID` or `anyhook approvals deny ID`.")
    allows = words[0] == "allow"
    if (options.because is not None and allows) or (options.session and not allows):
        raise BadCall("--because goes with `deny`, and --session with `allow`.")
    require_person("approvals")
    require_terminal("only a person can answer.")
    return _answer(waiting, words[1], PersonsAnswer(allows, "terminal", options.because or "", options.session))


def _answer(approvals: Approvals, name: str, reply: PersonsAnswer) -> int:
    found = approvals.find(name)
    _print(found)
    if found is not None and reply.lasts and not _may_last(found.may_last, str(found.told.get("rule"))):
        return FINDINGS
    try:
        is_taken = found is not None and approvals.answer(found, reply)
    except OSError as error:
        raise BadCall(f"the answer could not be written ({error.strerror}), so the call is refused.") from None
    if not is_taken:
        render.say(NOTHING_WAITS.format(name))
        return FINDINGS
    render.out("Refused." if not reply.allows else "Allowed for this session." if reply.lasts else "Allowed once.")
    return DONE


def _may_last(may_last: bool, rule: str) -> bool:
    if not may_last:
        render.say("this cannot be allowed for the session: it is not a rule of yours that asks. Leave out --session.")
        return False
    if click.confirm(f"Let everything that {rule} asks about pass until this session ends?", default=False):
        return True
    render.say("Nothing is answered.")
    return False


def _print(waiting: Waiting | None) -> None:
    for line in approval_lines(waiting) if waiting is not None else ():
        title, text = (line[:TITLE], line[TITLE:]) if line.startswith(" ") else ("", line)
        for part in prefixed(text, title, " " * len(title)):
            render.out(part)


def _show(waiting: Approvals, options: ApprovalsOptions) -> int:
    found = waiting.waiting()
    if options.json:
        render.json_out([each.as_dict() for each in found], indent=2)
        return DONE
    for each in found:
        _print(each)
        render.out(f"  answer    anyhook approvals allow {each.id}   or: anyhook approvals deny {each.id}")
    if not found:
        render.say("No call waits for you.")
    return DONE
