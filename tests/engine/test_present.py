"""Present, as a table: what a hook reads and how it is started, as its agent's documentation says. `K-22` and the like
number statements in the documentation, as in the vectors. Nothing is started here."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from step_box import row_of

from anyhook.engine.present import present, stdin_of
from anyhook.model.event import Event
from anyhook.model.json_types import Json
from anyhook.tables.registry import dialect
from anyhook.tables.rows import Scene
from conftest import World
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.call import Call

SHELL: dict[str, Json] = {"command": "ls -la"}
USAGE: dict[str, Json] = {
    "input_tokens": 8, "output_tokens": 1, "current_context_window": 9, "max_context_window": 12,
}  # fmt: skip
TURN: list[Json] = [{"role": "user", "content": "fix it"}]
KODIK: dict[str, Json] = {"session_id": "s-1", "cwd": "/p"}
KOLEGA: dict[str, Json] = {"session_id": "s-1", "cwd": "/p", "permission_mode": "ask"}
KODELET: dict[str, Json] = {"conv_id": "s-1", "cwd": "/p", "invoked_by": "main"}
PAYLOADS: list[tuple[str, str, Event, dict[str, Json]]] = [
    ("K-22", "kode", Event.session_start(provider="claude", model="m"),
     {"event": "session_start", "session_id": "s-1", "work_dir": "/p", "provider": "claude", "model": "m"}),
    ("K-22 not given", "kode", Event.session_start(),
     {"event": "session_start", "session_id": "s-1", "work_dir": "/p", "provider": "", "model": ""}),
    ("K-23", "kode", Event.user_prompt_submit("hi", attachments=[{"path": "a", "kind": "file"}]),
     {"event": "user_prompt_submit", "session_id": "s-1", "prompt": "hi",
      "attachments": [{"path": "a", "kind": "file"}]}),
    ("K-24", "kode", Event.pre_tool("shell", SHELL),
     {"event": "tool_call_pre", "session_id": "s-1", "tool": "shell", "input": SHELL, "auto_approve": False}),
    ("K-25", "kode", Event.post_tool("shell", SHELL, "out", exit_code=0, duration_ms=142),
     {"event": "tool_call_post", "session_id": "s-1", "tool": "shell", "exit_code": 0, "output": "out",
      "duration_ms": 142}),
    ("K-26", "kode", Event.session_end("user_exit", turns=17),
     {"event": "session_end", "session_id": "s-1", "reason": "user_exit", "turns": 17}),
    ("D-17, Dv", "kodik", Event.pre_tool("Bash", SHELL),
     {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": SHELL, "context": KODIK}),
    ("Dv source", "kodik", Event.session_start("resume"),
     {"hook_event_name": "SessionStart", "source": "resume", "context": KODIK}),
    ("Dv trigger", "kodik", Event.pre_compact("auto"),
     {"hook_event_name": "PreCompact", "trigger": "auto", "context": KODIK}),
    ("Dv prompt", "kodik", Event.user_prompt_submit("hi"),
     {"hook_event_name": "UserPromptSubmit", "prompt": "hi", "context": KODIK}),
    ("Dv agent", "kodik", Event.subagent_start("research"),
     {"hook_event_name": "SubagentStart", "agent_type": "research", "context": KODIK}),
    ("A-18", "agenthooks", Event.pre_tool("Shell", SHELL, call_id="c-1"),
     {"event_type": "before_tool", "session_id": "s-1", "work_dir": "/p", "tool_name": "Shell", "tool_input": SHELL,
      "tool_use_id": "c-1"}),
    ("A-21", "agenthooks", Event.stop(stop_reason="no_tool_calls", step_count=3),
     {"event_type": "before_stop", "session_id": "s-1", "work_dir": "/p", "stop_reason": "no_tool_calls",
      "step_count": 3, "final_message": None}),
    ("G-31", "kolega", Event.pre_tool("bash", SHELL, call_id="c-1", permission_mode="ask"),
     {"hook_event_name": "PreToolUse", **KOLEGA, "tool_name": "bash", "tool_input": SHELL, "tool_use_id": "c-1"}),
    ("4.2 PostToolUse", "kolega", Event.post_tool("bash", SHELL, "out", permission_mode="ask"),
     {"hook_event_name": "PostToolUse", **KOLEGA, "tool_name": "bash", "tool_input": SHELL, "tool_output": "out",
      "is_error": False}),
    ("4.2 PostToolUse, failed", "kolega", Event.post_tool_failure("bash", SHELL, "oh", permission_mode="ask"),
     {"hook_event_name": "PostToolUse", **KOLEGA, "tool_name": "bash", "tool_input": SHELL, "tool_output": "oh",
      "is_error": True}),
    ("4.2 UserPromptSubmit", "kolega", Event.user_prompt_submit("hi", permission_mode="ask"),
     {"hook_event_name": "UserPromptSubmit", **KOLEGA, "user_message": "hi"}),
    ("4.2 SessionStart", "kolega", Event.session_start("startup", permission_mode="ask"),
     {"hook_event_name": "SessionStart", **KOLEGA, "source": "startup"}),
    ("4.2 PreCompact", "kolega",
     Event.pre_compact("auto", input_tokens=9, model_context_length=10, permission_mode="ask"),
     {"hook_event_name": "PreCompact", **KOLEGA, "trigger": "auto", "input_tokens": 9, "model_context_length": 10}),
    ("4.2 Stop", "kolega", Event.stop(stop_reason="end_turn", last_message="bye", permission_mode="ask"),
     {"hook_event_name": "Stop", **KOLEGA, "stop_reason": "end_turn", "last_message": "bye"}),
    ("4.2 Notification", "kolega",
     Event.notification("may I?", notification_type="permission_prompt", tool="bash", permission_mode="ask"),
     {"hook_event_name": "Notification", **KOLEGA, "notification_type": "permission_prompt", "message": "may I?",
      "tool_name": "bash"}),
    ("4.2 SessionEnd", "kolega", Event.session_end("quit", permission_mode="ask"),
     {"hook_event_name": "SessionEnd", **KOLEGA, "reason": "quit"}),
    ("L-9, L-10", "kodelet", Event.pre_tool("bash", SHELL, call_id="c-1", invoked_by="main"),
     {"event": "before_tool_call", **KODELET, "tool_name": "bash", "tool_input": SHELL, "tool_user_id": "c-1"}),
    ("L-18", "kodelet", Event.user_prompt_submit("hi", invoked_by="main"),
     {"event": "user_message_send", **KODELET, "message": "hi"}),
    ("L-21, L-22", "kodelet",
     Event.step_end(turn_number=5, tools_used=True, usage=USAGE, auto_compact_enabled=True,
                    auto_compact_threshold=0.8, invoked_by="main"),
     {"event": "after_turn", **KODELET, "turn_number": 5, "tools_used": True, "usage": USAGE,
      "auto_compact_enabled": True, "auto_compact_threshold": 0.8}),
    ("L-21 no threshold, L-25, Lm", "kodelet", Event.stop(messages=TURN, usage=USAGE, invoked_by="main"),
     {"event": "agent_stop", **KODELET, "messages": TURN, "usage": USAGE, "auto_compact_enabled": False}),
]  # fmt: skip
MOMENT = {"agenthooks": ("timestamp",)}
"""Keys that hold the time."""


def read_by(name: str, event: Event) -> bytes:
    """What a hook of this dialect reads, in the project /p."""
    row = row_of(name, event.name)
    return stdin_of(dialect(name), row, Scene(event, row.native, "/p", "s-1", {}, {}))


@each_of(("row", "name", "event", "expected"), PAYLOADS)
def test_what_it_reads(row: str, name: str, event: Event, expected: dict[str, Json]) -> None:
    found = json.loads(read_by(name, event))
    moments = [found.pop(key) for key in MOMENT.get(name, ())]
    assert all(moments), row
    assert found == expected, row


def test_kimis_scripts_search_for_a_space_after_each_colon() -> None:
    """Ac: the document's own scripts use grep."""
    stdin = read_by("agenthooks", Event.pre_tool("Shell", {"command": "rm -rf /", "ü": "é"}))
    assert b'"command": "rm -rf /"' in stdin
    assert "é" in stdin.decode()


def test_a_number_that_no_float_holds_comes_through() -> None:
    """Law 8."""
    stdin = read_by("kode", Event.pre_tool("shell", json.loads('{"n": 12345678901234567890123}')))
    assert b"12345678901234567890123" in stdin


# -- how a hook is started, once it is found and loaded

SECRET = {"MINE": "1", "SECRET_TOKEN": "hush-hush"}


@pytest.fixture(scope="module")
def calls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Call, dict[str, str]]]:
    """Maps dialect, scope and name of each declared hook to its call and to the values of its placeholders and
    variables."""
    world = World(tmp_path_factory.mktemp("present"))
    world.env |= SECRET
    declared: list[Json] = ["~/guard.sh 'two words' $HOME", ["/bin/guard", "a b"]]
    for number, spec in enumerate(declared):
        path = world.home / "config" / "kode" / "config.yaml"
        world.declare(path, "tool_call_pre", {"exec": spec, "timeout_ms": 1000 * (number + 1)})
    for scope in ("user", "project"):
        world.hook("kodik", "PreToolUse", 'x "${A}"/y | z', scope, timeout=7)
        world.hook("agenthooks", "before_tool", "true", scope, name=f"{scope}s", timeout=250)
        world.hook("kodelet", "before_tool_call", "true", scope, name=f"{scope}s")
    world.kolega("PreToolUse", {"type": "command", "command": "guard 'a b' $HOME | z", "timeout": 2.5}, "user")
    world.approve()
    engine = world.engine(session="s-1")
    event = Event.pre_tool("Shell", SHELL)
    engine.fire_sync(event)  # asks kodelet's executables for their event
    places = {"project": str(world.project.resolve()), "home": str(world.home), "PATH": world.env["PATH"]}
    made = {}
    for hook in engine.catalog.hooks:
        table_ = dialect(hook.dialect)
        row = table_.row(hook.native_event)
        if hook.scope == "builtin" or row is None or "pre_tool" not in row.canonical:
            continue
        scene = Scene(event, row.native, places["project"], "s-1", world.env, {})
        call, missing = present(hook, table_, row, scene, "run-1")
        assert missing in ("", call.argv[0]) or not call.argv[0].startswith(str(world.root)), "what is there can start"
        key = f"{hook.dialect} {hook.scope}"
        made[f"{key} 2" if key in made else key] = (call, places | world.env)
    return made


ARGV: list[tuple[str, str, tuple[str, ...]]] = [
    ("K-9, Kn a string is split", "kode user", ("{home}/guard.sh", "two words", "$HOME")),
    ("Kn a list is argv", "kode user 2", ("/bin/guard", "a b")),
    ("D-15 a shell's line", "kodik user", ("a shell", "-c", 'x "${{A}}"/y | z')),
    ("A-14", "agenthooks user", ("{home}/config/agents/hooks/users/scripts/run",)),
    ("A-14 project", "agenthooks project", ("{project}/.agents/hooks/projects/scripts/run",)),
    ("G-32 no shell", "kolega user", ("guard", "a b", "$HOME", "|", "z")),
    ("L-7", "kodelet user", ("{home}/.kodelet/hooks/users", "run")),
    ("L-7 project", "kodelet project", ("{project}/.kodelet/hooks/projects", "run")),
]
SHELLS = ("/bin/sh", "/bin/bash")


@each_of(("row", "key", "argv"), ARGV)
def test_what_is_started(
    calls: dict[str, tuple[Call, dict[str, str]]], row: str, key: str, argv: tuple[str, ...]
) -> None:
    call, places = calls[key]
    found = ("a shell", *call.argv[1:]) if call.argv[0] in SHELLS else call.argv
    assert found == tuple(word.format(**places) for word in argv), row


LIMITS = [
    ("K-10", "kode user", 1.0), ("K-10", "kode user 2", 2.0), ("D-16", "kodik user", 7.0),
    ("A-5", "agenthooks user", 0.25), ("G-30", "kolega user", 2.5), ("L-39", "kodelet user", 30.0),
]  # fmt: skip


@each_of(("row", "key", "limit_s"), LIMITS)
def test_how_long_it_may_take(
    calls: dict[str, tuple[Call, dict[str, str]]], row: str, key: str, limit_s: float
) -> None:
    assert calls[key][0].limit_s == limit_s, row


def test_it_runs_in_the_project(calls: dict[str, tuple[Call, dict[str, str]]]) -> None:
    """K-13, Du, Af, G-33, L-7."""
    assert {key: call.cwd for key, (call, places) in calls.items() if call.cwd != places["project"]} == {}


INHERITED = ("HOME", "PATH", "XDG_CONFIG_HOME", "XDG_STATE_HOME", *SECRET)
APART = {"PYTHONPYCACHEPREFIX": "{XDG_STATE_HOME}/anyhook/compiled"}
"""What keeps compiled Python files in a project from being used."""
KIMI = {"KIMI_SESSION_ID": "s-1", "KIMI_WORK_DIR": "{project}", "KIMI_PROJECT_DIR": "{project}"}
ENV: list[tuple[str, str, tuple[str, ...], dict[str, str]]] = [
    ("K-12, Kl: four and no more", "kode user", ("PATH",),
     {"KODE_HOOK_EVENT": "tool_call_pre", "KODE_SESSION_ID": "s-1", "KODE_WORK_DIR": "{project}"}),
    ("D-26", "kodik project", INHERITED, {**APART, "KODIK_PROJECT_ROOT": "{project}"}),
    ("D-27", "kodik user", INHERITED, {"KODIK_HOOKS_ROOT": "{home}/Documents/Kodik/Hooks"}),
    ("A-41, Af", "agenthooks project", INHERITED,
     {**APART, **KIMI, "KIMI_HOOK_DIR": "{project}/.agents/hooks/projects"}),
    ("A-41, Af user", "agenthooks user", INHERITED, {**KIMI, "KIMI_HOOK_DIR": "{home}/config/agents/hooks/users"}),
    ("G-33", "kolega user", INHERITED, {}),
    ("L-7", "kodelet project", INHERITED, {}),
]  # fmt: skip


@each_of(("row", "key", "inherited", "more"), ENV)
def test_its_variables(
    calls: dict[str, tuple[Call, dict[str, str]]], row: str, key: str, inherited: tuple[str, ...], more: dict[str, str]
) -> None:
    call, places = calls[key]
    own = {name: value for name, value in call.env.items() if not name.startswith("ANYHOOK_")}
    expected = {name: places[name] for name in inherited}
    assert own == expected | {name: value.format(**places) for name, value in more.items()}, row


def test_a_run_is_marked_where_the_dialect_allows_it(calls: dict[str, tuple[Call, dict[str, str]]]) -> None:
    """Law 7: the mark finds a process that has left its process tree. Three documents do not allow our variables."""
    for key, (call, _) in calls.items():
        ours = {name: value for name, value in call.env.items() if name.startswith("ANYHOOK_")}
        if key.split()[0] in ("kode", "kolega", "kodelet"):
            assert (call.mark, ours) == ("", {}), key
        else:
            assert (call.mark, ours["ANYHOOK_RUN"]) == ("ANYHOOK_RUN=run-1", "run-1"), key
