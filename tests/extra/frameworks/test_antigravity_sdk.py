"""Hooks in an agent of the Antigravity SDK: the agent that comes with the SDK, with a model on the loopback
interface."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("google.antigravity", reason="google-antigravity is not installed; `make frameworks` has it")

from framework_contract import Answer, Contract, Desk, Ran, calls, played
from google.antigravity import Agent, types
from google.antigravity.connections.local.local_openai_connection_config import LocalOpenAIAgentConfig
from google.antigravity.hooks import hooks, policy
from live.troubled import text_of

from anyhook.adapters.antigravity import Hooked
from anyhook.extra.frameworks.antigravity import shown
from anyhook.extra.frameworks.conversation import ToolCall
from anyhook.extra.live.model_server import ModelRequest, ModelServer
from anyhook.extra.live.wire import ModelCall, ModelReply
from anyhook.model.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook import Engine
    from anyhook.model.event import Event
    from conftest import World


class Model:
    """Gives its answers in turn. A sub-agent, whose task contains the word SUB, has its own script."""

    def __init__(self, answers: list[Any], sub: list[Any] | None = None) -> None:
        self.answers, self.sub = list(answers), list(sub or ())
        self.told: list[str] = []

    def __call__(self, asked: ModelRequest) -> ModelReply:
        script = self.answers
        if "SUB" in asked.opening and "<USER_REQUEST>" not in asked.opening:
            script = self.sub
        else:
            self.told.append(text_of(asked))
        answer = script.pop(0) if script else "Nothing more."
        if isinstance(answer, ModelCall):
            return ModelReply(calls=(answer,))
        if isinstance(answer, str):
            return ModelReply(answer)
        return ModelReply(calls=tuple(ModelCall("add", given) for given in calls(answer)))


def settings(project: Path, url: str, **more: Any) -> LocalOpenAIAgentConfig:
    return LocalOpenAIAgentConfig(
        model="scripted",
        base_url=f"{url}/v1",
        workspaces=[str(project)],
        policies=[policy.allow_all()],
        app_data_dir=str(project.parent / "app"),
        save_dir=str(project.parent / "saved"),
        **more,
    )


async def talk(agent: Agent, *prompts: str) -> str:
    text = ""
    async with agent:
        for prompt in prompts:
            text = await (await agent.chat(prompt)).text()
    return text


def adding(desk: Desk) -> Callable[[int, int], str]:
    def add(a: int, b: int) -> str:
        """Adds two numbers."""
        return desk.add(a, b)

    return add


class TestSdk(Contract):
    column = "Antigravity SDK"
    replaces_output = False
    ends_turns = False
    checks_rewrites = False

    async def converse(self, engine: Engine, desk: Desk, answers: list[Answer], *prompts: str) -> Ran:
        model, project = Model(answers), Path(engine.setup.project)
        with ModelServer(model) as server:
            config = settings(project, server.url, tools=[adding(desk)])
            said = await talk(Hooked(engine).agent(config), *prompts)
        last = answers[len(model.told) - 1] if len(model.told) <= len(answers) else said
        return Ran(model.told, last if isinstance(last, str) and said.endswith(last) else said)


def run(world: World, calls: list[Any], sub: list[Any] | None = None, **given: Any) -> list[str]:
    """What the model receives after it asked for these calls under these hooks."""
    more = {key: given.pop(key) for key in ("hooks",) if key in given}
    engine = world.engine()
    for name, hook in given.items():
        engine.on(name, hook)
    model = Model([*calls, "Done."], sub)
    with ModelServer(model) as server:
        asyncio.run(talk(Hooked(engine).agent(settings(world.project, server.url, **more)), "Go."))
    return model.told


def shell(command: str, world: World) -> ModelCall:
    given = {"CommandLine": command, "Cwd": str(world.project), "WaitMsBeforeAsync": 5000, "SafeToAutoRun": True}
    return ModelCall("run_command", given)


def names(world: World) -> list[str]:
    return sorted(path.name for path in world.project.iterdir() if not path.name.startswith("."))


def test_hooks_of_other_agents_know_its_tools(world: World) -> None:
    """A hook for another agent's shell sees this agent's shell, with the fields that the hook knows."""
    script = '! grep -q \'"command": *"touch no"\' || { echo stop it >&2; exit 2; }'
    world.hook("kodik", "PreToolUse", script)
    told = run(world, [shell("touch no", world), shell("touch yes", world)])
    assert names(world) == ["yes"]
    assert "stop it" in told[1]


def test_files_by_our_words(world: World) -> None:
    seen: list[tuple[object, object]] = []
    path = str(world.project / "a.txt")
    write = {"TargetFile": path, "CodeContent": "one\ntwo\n", "Overwrite": True, "Description": "", "EmptyFile": False}
    edit = {
        "TargetFile": path,
        "TargetContent": "one",
        "ReplacementContent": "three",
        "StartLine": 1,
        "EndLine": 1,
        "AllowMultiple": False,
        "Instruction": "",
        "Description": "",
    }

    def look(event: Event) -> None:
        seen.append((event.get("tool"), event.ours))

    run(world, [ModelCall("write_to_file", write), ModelCall("replace_file_content", edit)], pre_tool=look)
    assert seen == [("create_file", "write_file"), ("edit_file", "edit_file")]
    assert (world.project / "a.txt").read_text() == "three\ntwo\n"


def test_the_output_of_the_shell(world: World) -> None:
    seen: list[object] = []
    run(world, [shell("echo a-word-$((40+2))", world)], post_tool=lambda event: seen.append(event.get("output")))
    assert [str(output).strip() for output in seen] == ["a-word-42"]


def test_a_sub_agent_is_guarded(world: World) -> None:
    seen: list[tuple[object, object]] = []

    def guard(event: Event) -> Outcome | None:
        seen.append((event.get("tool"), event.get("invoked_by")))
        return Outcome.block("not below") if event.get("invoked_by") == "subagent" else None

    task = {"Subagents": [{"TypeName": "self", "Role": "r", "Prompt": "SUB run it"}]}
    run(world, [ModelCall("invoke_subagent", task)], [shell("touch sub", world), "Sub done."], pre_tool=guard)
    assert seen == [("invoke_subagent", "main"), ("run_command", "subagent")]
    assert names(world) == []


def test_hook_files_are_not_read(world: World) -> None:
    """This is why an adapter is needed: files that refuse everything are in every place, and the tool still runs."""
    script = world.write(world.project.parent / "refuse", '#!/bin/sh\necho \'{"decision": "deny"}\'\n', 0o755)
    handler = {"type": "command", "command": str(script)}
    declared = json.dumps({"mine": {"PreToolUse": [{"matcher": "*", "hooks": [handler]}]}})
    for folder in (".agents", ".agent", "_agents", "_agent", ".agents/plugins/p"):
        world.write(world.project / folder / "hooks.json", declared)
    world.write(world.project / ".agents/plugins/p/plugin.json", '{"name": "p"}')
    with ModelServer(Model([shell("touch ran", world), "Done."])) as server:
        asyncio.run(talk(Agent(settings(world.project, server.url)), "Go."))
    assert "ran" in names(world)


def test_hooks_see_what_the_programs_own_have_made_of_a_call(world: World) -> None:
    @hooks.pre_tool_call_decide
    async def rewrite(data: Any) -> Any:
        return types.HookResult(allow=True, modified_args={"CommandLine": "touch no"})

    def guard(event: Event) -> Outcome | None:
        return Outcome.block("stop it") if "touch no" in json.dumps(event.get("input")) else None

    told = run(world, [shell("touch yes", world)], pre_tool=guard, hooks=[rewrite])
    assert names(world) == []
    assert "stop it" in told[1]


def test_a_rewrite_that_leaves_something_out(world: World) -> None:
    """The agent would fill in missing fields from the old input, and hooks have not seen that combination."""
    rewrite = Outcome(tool_input={"CommandLine": "touch no"})
    told = run(world, [shell("touch yes", world)], pre_tool=lambda event: rewrite)
    assert names(world) == []
    assert "without Cwd" in told[1]


def test_no_tool_runs_after_the_end_of_a_turn(world: World) -> None:
    told = run(
        world,
        [shell("touch one", world), shell("touch two", world)],
        post_tool=lambda event: Outcome(end_turn=True),
    )
    assert names(world) == ["one"]
    assert "A hook ended the turn" in told[2]


def test_a_crash_of_ours_lets_nothing_run(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_given: Any, **_more: Any) -> None:
        raise RuntimeError("out of order")

    engine = world.engine()
    hooked = Hooked(engine)
    with ModelServer(model := Model([shell("touch given", world), "Done."])) as server:
        agent = hooked.agent(settings(world.project, server.url))
        monkeypatch.setattr(ToolCall, "before", crash)
        asyncio.run(talk(agent, "Go."))
    assert names(world) == []
    assert "out of order" in model.told[1]


async def sent(agent: Agent, prompt: str) -> str:
    """Send a prompt without going through the agent's own `chat`."""
    async with agent:
        text: str = await (await agent.conversation.chat(prompt)).text()
    return text


def test_a_prompt_by_another_way(world: World) -> None:
    """The prompt can be refused. Context that hooks add waits for a tool's result, and a rewrite refuses the prompt."""
    engine = world.engine()
    answers = {
        "One.": Outcome.block("not today"),
        "Two.": Outcome(context=("beside it",)),
        "Three.": Outcome(prompt="Four."),
    }
    engine.on("user_prompt_submit", lambda event: answers[str(event.get("prompt"))])
    model = Model([shell("touch ran", world), "Done."])
    with ModelServer(model) as server:
        for prompt, told in (("One.", "not today"), ("Three.", "rewrites this prompt")):
            with pytest.raises(types.AntigravityExecutionError, match=told):
                asyncio.run(sent(Hooked(engine).agent(settings(world.project, server.url)), prompt))
        assert model.told == []
        asyncio.run(sent(Hooked(engine).agent(settings(world.project, server.url)), "Two."))
    assert "beside it" in model.told[1]


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ('{"result": "sum 3"}', "sum 3"),
        ({"output": "hi"}, "hi"),
        ("plain", "plain"),
        ('{"other": 1}', '{"other": 1}'),
        (None, None),
        ({"summary": "x"}, {"summary": "x"}),
    ],
)
def test_results_as_hooks_see_them(result: Any, text: Any) -> None:
    assert shown(result) == text


def test_the_program_on_the_page(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    with ModelServer(Model([{"a": 1, "b": 2}, "Three."])) as server:
        config = settings(world.project, server.url, tools=[adding(desk := Desk())])
        made = played(world, monkeypatch, "antigravity", config=config)
    assert (made["text"], desk.sums) == ("Three.", ["1+2"])
