"""Commands of the chat, and an edit as a person sees it before they allow it."""

from __future__ import annotations

from agent_box import record, recorded
from chat_box import chat

from conftest import World

WRITE = {"write_file": {"path": "notes.txt", "content": "one\nthree\n"}}


def test_a_diff_before_the_question_and_commands(world: World) -> None:
    world.hook("kode", "session_end", record("end"))
    world.write(world.project / "notes.txt", "one\ntwo\n")
    terminal = chat(world, {"tools": [WRITE]}, "Written.")
    terminal.types("Write it.")
    shown = terminal.answers("Allow it?", "y")
    assert [line.strip() for line in shown.splitlines()][-6:-1] == [
        "notes.txt",
        "@@ -1,2 +1,2 @@",
        "one",
        "-two",
        "+three",
    ]
    terminal.sees("Written.")
    terminal.sees("of the context is full")
    terminal.types("/tools")
    terminal.sees("delegate_task")
    terminal.types("/cost")
    terminal.sees("tokens in")
    terminal.types("/model")
    terminal.sees("script:")
    terminal.types("/clear")
    terminal.sees("starts")
    terminal.types("And now?")
    terminal.answers("Allow it?", "n")  # the script of a new session begins anew
    terminal.sees("Written.")
    terminal.types("/exit")
    terminal.ends()
    assert [it["reason"] for it in recorded(world, "end")] == ["clear", "user_exit"]
    assert (world.project / "notes.txt").read_text() == "one\nthree\n"


def test_a_sub_agents_lines_stand_below_it(world: World) -> None:
    """Its tools, and what hooks say about them."""
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
