"""Hooks that the user of a chat approves or creates: the first question about trust, `/trust` and `/create-hook`, in a
pseudo-terminal."""

from __future__ import annotations

import json
import shlex
from typing import Any

import pytest
from agent_box import kodik, record, recorded, script, times
from chat_box import chat

from conftest import World

ASKED = "Approve exactly this? [y]es, [N]o, [s]how all of it, or a part of a name:"
FORCE: dict[str, Any] = {
    "name": "no-force",
    "event": "PreToolUse",
    "tool": "Bash",
    "lang": "bash",
    "script": "#!/usr/bin/env bash\nif grep -q -- --force; then echo Never by force. >&2; exit 2; fi\n",
    "explanation": "Refuses what is done by force.",
    "sample": {"tool_name": "Bash", "tool_input": {"command": "git push --force"}},
}
FORCE_TOO = {**FORCE, "name": "no-force-at-all"}
DRAFT_WITHOUT_FIRST_LINE = {**FORCE, "script": "exit 0\n"}
UNREAD = {**FORCE, "event": "PreToolUsage"}
BROKEN_BASH = {**FORCE, "script": "#!/usr/bin/env bash\nif then\n"}
UNMATCHED = {**FORCE, "sample": {"tool_name": "Read", "tool_input": {}}}


def drafts(*made: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"by": "hook_writer", "tools": [{"final_result": draft}]} for draft in made]


def project_hook(world: World, text: str) -> None:
    world.write(world.project / "hook.sh", f"#!/bin/sh\n# {text}\n{record('prompts')}\n", 0o755)
    world.kolega("UserPromptSubmit", {"type": "command", "command": "./hook.sh"}, "project")


def test_trust_at_first_sight(world: World) -> None:
    """The chat asks once, before any hook runs. It remembers a no until something changes. /trust always asks."""
    project_hook(world, "as it was")
    first = chat(world, "Said.")
    shown = first.answers(ASKED, "s")
    assert "event    UserPromptSubmit" in shown
    assert "command  ./hook.sh" in shown
    assert "as it was" not in shown
    assert "+# as it was" in first.answers(ASKED, "n")
    first.sees("Not approved: they do not run.")
    first.types("Go.")
    first.sees("Said.")
    first.types("/exit")
    assert first.ends()[0] == 0

    again = chat(world, "Said.", "Said again.")
    assert "wants to run" not in again.sees("1 waiting for approval (/trust)")
    again.types("Go.")
    again.sees("Said.")
    assert times(world, "prompts") == 0
    again.types("/trust")
    again.answers(ASKED, "y")
    again.sees("They run from now on")
    again.types("Go.")
    again.sees("Said again.")
    assert times(world, "prompts") == 1
    again.types("/exit")
    again.ends()

    world.write(world.project / "hook.sh", "#!/bin/sh\n# another\n", 0o755)
    changed = chat(world, "Said.")
    assert "CHANGED" in changed.sees(ASKED)
    changed.presses("c")
    changed.sees("you will be asked again")
    changed.types("/exit")
    changed.ends()


def test_forty_hooks_fit_a_screen(world: World) -> None:
    """The hooks are grouped. Part of a name shows the details of the hooks that match."""
    for number in range(20):
        name = f"hook{number}.sh"
        world.write(world.project / name, "#!/bin/sh\n# what it does\n", 0o755)
        world.kolega("PreToolUse", {"type": "command", "command": f"./{name}"}, "project")
        world.hook("agenthooks", "before_tool", "exit 0", name=f"kimi{number}", scope="project")
    terminal = chat(world, "Said.")
    shown = terminal.answers(ASKED, "hook7.sh")
    assert "This project wants to run 40 hooks of its own" in shown
    assert len(shown.splitlines()) < 50, "the height of the terminal"
    assert "kimi19" in shown
    details = terminal.answers(ASKED, "n")
    assert "+# what it does" in details
    assert "hook8.sh" not in details
    terminal.sees("Not approved")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


@pytest.mark.parametrize("words", [("--no-hooks",), ("--trust", "none"), ("--trust-hooks",)], ids=" ".join)
def test_starts_that_ask_nobody(world: World, words: tuple[str, ...]) -> None:
    project_hook(world, "as it was")
    terminal = chat(world, "Said.", words=(*words, "Go."))
    assert "Approve exactly" not in terminal.sees("Said.")
    terminal.types("/exit")
    terminal.ends()
    assert times(world, "prompts") == (words == ("--trust-hooks",))


def test_a_hook_from_words(world: World) -> None:
    """D-7: the hook is checked, shown, explained, and saved for the project or the user. It takes effect in a new
    session."""
    terminal = chat(world, *drafts(FORCE, UNREAD, BROKEN_BASH, FORCE, FORCE_TOO, FORCE, FORCE_TOO))
    terminal.types("/create-hook refuse what is done by force")
    shown = terminal.answers("Save it for the project? [y]es, [u] for the user instead, [n]o:", "x")
    assert "+if grep -q -- --force" in shown
    assert "+++ " + str(world.project / ".kodik/hooks/hooks.json") in shown
    assert "check: no problems" in shown
    assert f"in     {world.project}, at most 30000 ms" in shown
    terminal.answers("Save it for the project?", "")  # neither a wrong key nor Enter discards the draft
    terminal.answers("Save it for the project?", "n")
    terminal.sees("Not saved. The draft is kept")
    assert not (world.project / ".kodik").exists()
    terminal.types("/create-hook")
    assert "+if grep -q -- --force" in terminal.answers("Save it for the project?", "n")
    terminal.sees("Not saved.")

    terminal.types("/create-hook the same")  # the model needs three tries
    terminal.answers("Save it for the project?", "y")
    terminal.sees("It takes effect in a new session.")
    terminal.types("/hooks")
    terminal.sees("No hooks.")

    terminal.types("/create-hook --scope user the same for me")
    shown = terminal.answers("Save it for the user? [y]es, [p] for the project instead, [n]o:", "y")
    assert "+++ " + str(world.home / "Documents/Kodik/Hooks/hooks.json") in shown
    terminal.sees("It takes effect in a new session.")

    terminal.types("/create-hook once more")  # the name is taken, so the model picks another
    assert "no-force-at-all: Refuses" in terminal.answers("Save it for the project?", "n")
    terminal.sees("Not saved.")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0

    listed = json.loads(world.command("list", "--json").stdout)["hooks"]
    assert [(hook["id"], hook["status"]) for hook in listed] == [
        ("kodik:project:PreToolUse:no-force.sh", "armed"),
        ("kodik:user:PreToolUse:no-force-at-all.sh", "armed"),
    ]
    model = script(
        world, {"tools": [{"shell": {"command": "git push --force"}}]}, {"expect": "Never by force", "text": "No."}
    )
    done = world.command("agent", "run", "Push.", "--model", model, "--permission", "auto")
    assert (done.returncode, done.stdout) == (0, "No.\n")


def test_hooks_that_do_not_get_written(world: World) -> None:
    terminal = chat(world, *drafts(DRAFT_WITHOUT_FIRST_LINE, UNMATCHED, BROKEN_BASH))
    terminal.types("/create-hook --dialect nothing x")
    terminal.sees("--dialect nothing: must be one of")
    terminal.types("/create-hook")
    terminal.answers("What should the hook do?", "")
    terminal.sees("Say what the hook should do")
    terminal.types("/create-hook something")
    terminal.sees("The model has written no hook that would work: the script is not valid bash")
    terminal.types("/create-hook something")
    terminal.sees("hook_writer")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0
    assert list(world.project.iterdir()) == []


def test_a_new_session_in_the_words_of_each_document(world: World) -> None:
    """D-10, Ga: after `/clear`, a matcher that names a start runs."""
    matchers = {"startup": 2, "startup|resume": 2, "resume": 0}
    for number, matcher in enumerate(matchers):
        kodik(world, "SessionStart", record(f"kodik-{number}"), matcher)
        line = shlex.quote(record(f"kolega-{number}"))
        world.kolega("SessionStart", {"type": "command", "command": f"/bin/sh -c {line}"}, matcher=matcher)
    world.hook("kolega", "SessionEnd", record("end"))
    world.hook("agenthooks", "session_end", record("exit"))
    terminal = chat(world, "Fine.")
    terminal.types("/clear")
    terminal.sees("starts")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0
    for dialect in ("kodik", "kolega"):
        for number, expected in enumerate(matchers.values()):
            assert [it["source"] for it in recorded(world, f"{dialect}-{number}")] == ["startup"] * expected
    assert [it["reason"] for it in recorded(world, "end")] == ["quit", "quit"]
    assert [it["exit_reason"] for it in recorded(world, "exit")] == ["user_exit", "user_exit"]
