"""The library accepts the switches of `anyhook fire`, both when an engine is opened and with each event."""

from __future__ import annotations

import pytest

from anyhook import Engine, Event, Outcome
from conftest import World

CALL = Event.pre_tool("Shell", {"command": "ls"})
DENY = "#!/bin/sh\necho no >&2\nexit 2\n"


@pytest.fixture
def engine(world: World) -> Engine:
    """Two hooks that block: one of the user's, and one of the project's in another dialect."""
    world.hook("agenthooks", "before_tool", DENY, name="of-the-user")
    world.hook("kode", "tool_call_pre", DENY, scope="project", name="of-the-project")
    return Engine.open(world.project, env=world.env)


def test_trust_with_an_event(engine: Engine) -> None:
    assert [hook.status for hook in engine.fire_sync(CALL).hooks] == ["untrusted", "ran"]
    assert [hook.status for hook in engine.fire_sync(CALL, trust="all").hooks] == ["ran", "skipped"]
    assert [hook.status for hook in engine.fire_sync(CALL).hooks] == ["untrusted", "ran"]


async def fire_with_dialect(engine: Engine) -> list[str]:
    return [hook.dialect for hook in (await engine.fire(CALL, dialect="kode")).hooks]


def test_dialect_with_an_event(engine: Engine) -> None:
    import asyncio

    assert asyncio.run(fire_with_dialect(engine)) == ["kode"]
    assert [hook.dialect for hook in engine.fire_sync(CALL, dialects=["agenthooks"]).hooks] == ["agenthooks"]


def test_callables_stay_with_other_switches(engine: Engine) -> None:
    engine.on("pre_tool", lambda _: Outcome.block("first"), name="mine")
    assert engine.fire_sync(CALL, trust="none").reason == "first"
    engine.on("pre_tool", lambda _: Outcome.block("never reached"), name="second")
    assert len(engine.fire_sync(CALL, trust="none").hooks) == 4


@pytest.mark.parametrize(
    ("switch", "value"),
    [
        ("trust", "maybe"),
        ("on_failure", "panic"),
        ("mode", "loud"),
        ("dialect", "nope"),
        ("dialects", ["kode", "nope"]),
    ],
)
def test_a_word_that_is_none_is_refused(world: World, switch: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"nope|must be one of"):
        Engine.open(world.project, env=world.env, **{switch: value})  # type: ignore[arg-type]


def test_a_project_that_is_no_directory_is_refused(world: World) -> None:
    with pytest.raises(NotADirectoryError, match="no-such"):
        Engine.open(world.project / "no-such", env=world.env)


def test_every_canonical_event_has_a_maker() -> None:
    made = [
        Event.session_start(),
        Event.session_end("quit"),
        Event.user_prompt_submit("hi"),
        Event.turn_start("hi"),
        Event.turn_end(),
        Event.step_end(turn_number=2),
        Event.pre_tool("T", {}),
        Event.post_tool("T", {}, "out"),
        Event.post_tool_failure("T", {}, "bad"),
        Event.permission_request("T", {}),
        Event.notification("look"),
        Event.subagent_start("research"),
        Event.subagent_stop("research"),
        Event.pre_compact("auto"),
        Event.post_compact("manual"),
        Event.stop(),
        Event.stop_failure("rate_limit"),
        Event.setup("init"),
        Event.user_prompt_expansion("review", "Review this."),
        Event.instructions_loaded("/p/CLAUDE.md", "session_start"),
        Event.message_display("Done."),
        Event.permission_denied("T", {}, "not allowed"),
        Event.post_tool_batch([{"tool_name": "T"}]),
        Event.elicitation("tracker", "Which project?"),
        Event.elicitation_result("tracker", "accept"),
        Event.task_created("1", "write tests"),
        Event.task_completed("1", "write tests"),
        Event.teammate_idle("ada", "backend"),
        Event.pre_model_switch("small", "large"),
        Event.post_model_switch("small", "large"),
        Event.config_change("user_settings"),
        Event.cwd_changed("/p", "/p/sub"),
        Event.directory_added("/other", "add_dir_command"),
        Event.file_changed("/p/.env", "change"),
        Event.worktree_create("fix-1"),
        Event.worktree_remove("/p/.worktrees/fix-1"),
    ]
    from anyhook.model.event import EVENTS

    assert [event.name for event in made] == list(EVENTS)
    later = made[list(EVENTS).index("stop") + 1 :]
    assert [event.targets() for event in later if event.targets()] == [
        ("rate_limit",), ("init",), ("review",), ("session_start",), ("T",), ("tracker",), ("tracker",), ("large",),
        ("large",), ("user_settings",), ("add_dir_command",), ("/p/.env",),
    ]  # fmt: skip
    assert Event.subagent_stop("research").get("agent_name") == "research"
    with pytest.raises(ValueError, match="unknown event field"):
        Event.of("stop", nonsense=1)
