"""Chat commands, and the diff of an edit that the chat shows before it asks for permission."""

from __future__ import annotations

from agent_box import record, recorded
from chat_box import READY, chat

from conftest import World

WAIT = {"shell": {"command": "touch ../busy; while ! test -e ../go; do sleep 0.02; done"}}
WRITE = {"write_file": {"path": "notes.txt", "content": "one\nthree\n"}}


def test_a_diff_before_the_question_and_commands(world: World) -> None:
    world.hook("kode", "session_end", record("end"))
    world.write(world.project / "notes.txt", "one\ntwo\n")
    terminal = chat(world, {"tools": [WAIT]}, {"tools": [WRITE]}, "Written.")
    terminal.types("Write it.")
    terminal.answers("Allow it?", "y")
    terminal.until(world.root / "busy")
    terminal.child.send("n\r")  # typed before there is a question
    (world.root / "go").touch()
    shown = terminal.answers("Allow it?", "y")
    assert [line.strip() for line in shown.splitlines()][-6:-1] == [
        "notes.txt",
        "@@ -1,2 +1,2 @@",
        "one",
        "-two",
        "+three",
    ]
    terminal.sees("Written.")
    terminal.sees("context lef")  # next to the prompt, so the chat reads keys
    terminal.child.send("/tools\r")
    terminal.sees("delegate_task")
    terminal.types("/cost")
    terminal.sees("tokens in")
    terminal.types("/model")
    terminal.sees("script:")
    terminal.types("/agents")
    terminal.sees("self: This agent once more")
    terminal.types("/clear")
    terminal.sees("starts")
    terminal.types("And now?")
    terminal.answers("Allow it?", "n")  # a new session starts the script from the top
    terminal.answers("Allow it?", "n")
    terminal.sees("Written.")
    terminal.types("/exit")
    terminal.ends()
    assert [it["reason"] for it in recorded(world, "end")] == ["user_exit", "user_exit"]
    assert (world.project / "notes.txt").read_text() == "one\nthree\n"


def test_a_sub_agents_lines_stand_below_it(world: World) -> None:
    """They show its tool calls, and what hooks say about them."""
    world.hook("kolega", "PreToolUse", "exec cat >/dev/null; exit 0")
    world.hook("kode", "tool_call_pre", "if grep -q inner; then echo not this one >&2; exit 2; fi")
    delegate = {"delegate_task": {"agent_name": "self", "task": "Look."}}
    inner = {"by": "subagent", "tools": [{"shell": {"command": "echo inner"}}]}
    terminal = chat(
        world,
        {"tools": [delegate]},
        inner,
        {"by": "subagent", "text": "Looked."},
        "Done.",
        words=("--permission=auto",),
    )
    terminal.types("Go.")
    shown = terminal.sees("Done.")
    assert "\n● delegate_task" in shown
    assert "\n  ● shell  echo inner" in shown
    assert "\n    hook " in shown.split("● shell")[1], shown
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


def test_markdown_is_drawn_and_the_last_turn_undone(world: World) -> None:
    """/undo restores files that tools changed or removed, and deletes those they created. It leaves files that changed
    afterwards."""
    world.write(world.project / "kept.txt", "as it was\r\n")
    world.write(world.project / "mine.txt", "mine\n")
    command = "echo new > kept.txt; echo made > made.txt; echo theirs > mine.txt"
    terminal = chat(
        world,
        {"text": "# Plan\n\nIt is **bold**:\n\n```python\nx = 1\n```\n", "tools": [{"shell": {"command": command}}]},
        "Done.",
        {"expect": "The user undid your changes of the last turn to: kept.txt, made.txt", "text": "I see."},
        words=("--permission=auto",),
    )
    terminal.types("/undo")
    terminal.sees("There is nothing to undo: no tool has changed a file")
    terminal.types("Go.")
    shown = terminal.sees("Done.")
    assert "Plan" in shown
    assert "It is bold:" in shown
    assert "x = 1" in shown
    terminal.sees("context lef")
    world.write(world.project / "mine.txt", "mine again\n")
    terminal.child.send("/undo\r")
    terminal.sees("put back  kept.txt")
    terminal.sees("left alone, since it was changed afterwards  mine.txt")
    assert (world.project / "kept.txt").read_bytes() == b"as it was\r\n"
    assert not (world.project / "made.txt").exists()
    assert (world.project / "mine.txt").read_text() == "mine again\n"
    terminal.types("What now?")
    terminal.sees("I see.")
    terminal.types("/undo")
    terminal.sees("There is nothing to undo")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


def test_files_are_completed_skills_are_commands(world: World) -> None:
    world.write(world.project / "notes/plan.md", "Be quick.\n")
    world.write(
        world.home / ".claude/skills/greet/SKILL.md", "---\nname: greet\ndescription: Greets.\n---\nIn Latin.\n"
    )
    terminal = chat(
        world,
        {"expect": "See @notes/plan.md", "text": "Seen."},
        {"expect": ["In Latin.", "the world"], "text": "Salve, munde."},
    )
    terminal.sees(READY)
    terminal.child.send("See @not\t")
    terminal.sees("es/")
    terminal.child.send("pl\t")
    terminal.sees("an.md")
    terminal.child.send("\r")
    terminal.sees("Seen.")
    terminal.types("/greet the world")
    terminal.sees("Salve, munde.")
    terminal.types("/agents")
    terminal.sees("explore: Looks around")
    terminal.types("/mcp")
    terminal.sees("No MCP servers.")
    terminal.types("/mcp restrt")
    terminal.sees("Did you mean `restart`?")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


def test_an_edit_that_nobody_was_asked_about_is_shown_afterwards(world: World) -> None:
    world.write(world.project / "notes.txt", "one\ntwo\n")
    terminal = chat(world, {"tools": [WRITE]}, "Written.", words=("--permission=auto",))
    terminal.types("Write it.")
    shown = [line.strip() for line in terminal.sees("Written.").splitlines()]
    assert shown[shown.index("-two") - 3 : shown.index("-two") + 2] == [
        "notes.txt", "@@ -1,2 +1,2 @@", "one", "-two", "+three",
    ]  # fmt: skip
    terminal.types("/exit")
    assert terminal.ends()[0] == 0


def test_another_model_in_the_same_session(world: World) -> None:
    """The session continues and adds up the usage of both models. An invalid model name changes nothing."""
    world.hook("kolega", "SessionStart", record("start"))
    world.hook("kolega", "SessionEnd", record("end"))
    world.write(world.root / "other.yaml", "steps: [{text: I am the other one., usage: {input_tokens: 1000}}]")
    first = {"text": "I am the first.", "usage": {"input_tokens": 5000, "output_tokens": 1}}
    terminal = chat(world, first)
    terminal.types("Who?")
    terminal.sees("I am the first.")
    for name, said in (("nobody:m", "no provider is called 'nobody'"), ("odd", "must be PROVIDER:NAME")):
        terminal.types(f"/model {name}")
        terminal.sees(said)
    terminal.types(f"/model script:{world.root}/other.yaml")
    terminal.sees("answers from now on")
    terminal.types("Who?")
    terminal.sees("I am the other one.")
    terminal.types("/cost")
    terminal.sees("6,000 tokens in")
    terminal.types("/exit")
    assert terminal.ends()[0] == 0
    assert (len(recorded(world, "start")), len(recorded(world, "end"))) == (1, 1)
