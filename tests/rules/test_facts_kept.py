"""Self-protection and the rules read a line once, and what was read belongs to one call."""

from __future__ import annotations

from anyhook.model.event import Event
from anyhook.rules.calls import facts_of_event

ENV = {"HOME": "/home/me", "DEEP": "/a/b", "NAME": "build"}
PATHS = {name: value for name, value in ENV.items() if value.startswith("/")}
"""What self-protection knows of the variables."""


def event(line: str) -> Event:
    return Event.pre_tool("Bash", {"command": line})


def test_the_rules_get_what_self_protection_has_read_once() -> None:
    asked = event("cp $DEEP/x y")
    read = facts_of_event(asked, cwd="/p", home="/home/me", variables=PATHS, keep=True)
    assert facts_of_event(asked, cwd="/p", home="/home/me", variables=ENV) is read
    assert facts_of_event(asked, cwd="/p", home="/home/me", variables=ENV) is not read


def test_another_question_is_another_answer() -> None:
    for line in ("rm -r $NAME", "rm -r $NA\\\nME"):
        asked = event(line)
        facts_of_event(asked, cwd="/p", home="/home/me", variables=PATHS, keep=True)
        assert facts_of_event(asked, cwd="/p", home="/home/me", variables=ENV).deletes == ("/p/build",)
    asked = event("rm x")
    facts_of_event(asked, cwd="/p", home="/home/me", variables=PATHS, keep=True)
    assert facts_of_event(asked, cwd="/q", home="/home/me", variables=PATHS).deletes == ("/q/x",)
    assert facts_of_event(event("rm y"), cwd="/p", home="/home/me", variables=PATHS).deletes == ("/p/y",)
    changed = {**ENV, "DEEP": "/c"}
    asked = event("rm $DEEP/x")
    facts_of_event(asked, cwd="/p", home="/home/me", variables=PATHS, keep=True)
    assert facts_of_event(asked, cwd="/p", home="/home/me", variables=changed).deletes == ("/c/x",)
