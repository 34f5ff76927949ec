"""Agents call anyhook: real processes and real payloads, with hooks of one dialect under every agent."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import World

PAYLOADS = Path(__file__).parents[1] / "data" / "payloads"
SHELL_CALLS = {
    "claude": "claude/PreToolUse", "codex": "codex/PreToolUse", "gemini": "gemini/BeforeTool",
    "qwen": "qwen/PreToolUse", "copilot": "copilot/preToolUse", "goose": "goose/PreToolUse",
    "kimi": "kimicode/PreToolUse", "vibe": "vibe/pre_tool", "cline": "cline/PreToolUse",
    "opencode": "opencode/tool.execute.before", "kolega": "kolega/PreToolUse",
}  # fmt: skip
"""For each agent, a payload that calls `echo hi`."""
GUARD = "grep -q 'echo hi' && { echo 'no echo' >&2; exit 2; }; exit 0"


def payload(world: World, name: str, **changes: Any) -> str:
    """A captured payload, with its paths changed to this world's project."""
    text = (PAYLOADS / f"{name}.json").read_text().replace("/home/user/project", str(world.project))
    return json.dumps({**json.loads(text), **changes})


def call(world: World, agent: str, event: str, stdin: str, *words: str) -> tuple[int, Any, str]:
    """Run `bridge`. Returns the exit status, stdout (parsed if it is a JSON object) and stderr."""
    done = world.command("bridge", agent, event, *words, stdin=stdin)
    said: Any = json.loads(done.stdout) if done.stdout.startswith("{") else done.stdout
    return done.returncode, said, done.stderr


def event_of(name: str) -> str:
    return name.partition("/")[2]


@pytest.mark.parametrize("agent", SHELL_CALLS)
def test_one_guard_for_every_agent(world: World, agent: str) -> None:
    """The same hook refuses the same call in every agent, and the agent gets the reason."""
    world.hook("kodik", "PreToolUse", GUARD)
    name = SHELL_CALLS[agent]
    status, said, talk = call(world, agent, event_of(name), payload(world, name))
    assert "no echo" in json.dumps(said) + talk
    assert status == (2 if agent == "opencode" else 0)
    (line,) = world.journal()
    assert (line["host"], line["event"], line["decision"]["verdict"]) == (agent, "pre_tool", "block")
    assert line["project"] == str(world.project.resolve())


@pytest.mark.parametrize("agent", ["claude", "cline", "opencode"])
def test_nothing_hooked_is_no_output(world: World, agent: str) -> None:
    name = SHELL_CALLS[agent]
    assert call(world, agent, event_of(name), payload(world, name)) == (0, "", "")
    assert [line["host"] for line in world.journal()] == [agent]


@pytest.mark.parametrize(
    ("agent", "path"),
    [
        ("claude", ("hookSpecificOutput", "updatedInput", "command")),
        ("gemini", ("hookSpecificOutput", "tool_input", "command")),
        ("copilot", ("modifiedArgs", "command")),
        ("vibe", ("hook_specific_output", "tool_input", "command")),
        ("cline", ("overrideInput", "commands", 0)),
        ("opencode", ("args", "command")),
    ],
)
def test_a_rewrite_comes_back_in_the_agents_words(world: World, agent: str, path: tuple[str | int, ...]) -> None:
    world.hook("kodik", "PreToolUse", """echo '{"modified_input": {"command": "safe"}}'""")
    name = SHELL_CALLS[agent]
    _, said, _ = call(world, agent, event_of(name), payload(world, name))
    for key in path:
        said = said[key]
    assert said == "safe"


def test_a_rewrite_keeps_what_the_tool_cannot_be_without(world: World) -> None:
    """Grok rejects a rewritten command without a description. Hooks of other dialects do not know that field."""
    world.hook("kodik", "PreToolUse", """echo '{"modified_input": {"command": "safe"}}'""")
    given = {"command": "echo hi", "description": "says hi", "timeout": 5}
    body = {"tool_name": "run_terminal_command", "tool_input": given, "cwd": str(world.project), "session_id": "s"}
    _, said, _ = call(world, "grok", "PreToolUse", json.dumps(body))
    assert said["hookSpecificOutput"]["updatedInput"] == {"command": "safe", "description": "says hi"}


@pytest.mark.parametrize("posture", ["allow", "deny"])
def test_input_that_came_cut_is_not_passed_over(world: World, posture: str) -> None:
    """Grok truncates tool input above 128 KB and sends text that is no longer valid JSON."""
    world.config(f'on_failure = "{posture}"\n')
    world.hook("kodik", "PreToolUse", GUARD)
    body = {"tool_name": "write", "tool_input": '{"content":"bbb [truncated]', "cwd": str(world.project)}
    _, said, talk = call(world, "grok", "PreToolUse", json.dumps({**body, "session_id": "s"}))
    assert "input is cut" in json.dumps(said) + talk
    assert (isinstance(said, dict) and said.get("decision") == "deny") == (posture == "deny")
    (line,) = world.journal()
    assert [problem["code"] for problem in line["decision"]["problems"]] == ["bridge-failed"]


def test_fields_are_translated_both_ways(world: World) -> None:
    """opencode uses `filePath`, kodelet uses `file_path` and `text`. Neither side sees the other's names."""
    script = f"""cat > {world.root}/seen; echo '{{"input": {{"file_path": "b.txt", "text": "other"}}}}'"""
    world.hook("kodelet", "before_tool_call", script)
    _, said, _ = call(world, "opencode", "tool.execute.before", payload(world, "opencode/tool.execute.before.write"))
    seen = json.loads((world.root / "seen").read_text())
    assert (seen["tool_name"], seen["tool_input"]) == ("file_write", {"file_path": "a.txt", "text": "body"})
    assert said == {"args": {"filePath": "b.txt", "content": "other"}}


@pytest.mark.parametrize("matcher", ["Bash", "run_shell_command", "shell"])
def test_a_matcher_may_name_the_tool_in_any_words(world: World, matcher: str) -> None:
    world.hook("kolega", "PreToolUse", "true")  # another hook, which always matches
    world.declare(
        world.home / "Documents/Kodik/Hooks/hooks.json",
        "PreToolUse",
        {"matcher": matcher, "hooks": [{"type": "command", "command": GUARD}]},
        {},
    )
    assert call(world, "gemini", "BeforeTool", payload(world, "gemini/BeforeTool"))[1]["decision"] == "deny"


def test_a_matcher_that_names_another_tool(world: World) -> None:
    world.kolega("PreToolUse", {"type": "command", "command": "false"}, matcher="write_file")
    assert call(world, "gemini", "BeforeTool", payload(world, "gemini/BeforeTool"))[1] == ""


def test_one_bad_command_of_a_batch(world: World) -> None:
    world.hook("kodik", "PreToolUse", GUARD)
    given = json.loads(payload(world, "cline/PreToolUse"))
    given["tool_call"]["input"]["commands"] = ["ls", "echo hi", "pwd"]
    status, said, _ = call(world, "cline", "PreToolUse", json.dumps(given))
    assert (status, said) == (0, {"cancel": True, "errorMessage": "echo hi: no echo"})
    assert [line["data"]["input"] for line in world.journal()] == [{"command": "ls"}, {"command": "echo hi"}]


PATCH = """*** Begin Patch
*** Update File: src/main.py
@@
-old
+new
*** Add File: secrets/key
+abc
*** End Patch
"""


def test_the_files_of_a_patch(world: World) -> None:
    """A guard for one folder sees each file in a patch as a call of its own dialect's file tools."""
    guard = (
        f"cat >> {world.root}/seen; grep -q secrets/key {world.root}/seen && {{ echo hands off >&2; exit 2; }}; exit 0"
    )
    world.hook("kodik", "PreToolUse", guard)
    given = payload(world, "codex/PreToolUse", tool_name="apply_patch", tool_input={"command": PATCH})
    _, said, _ = call(world, "codex", "PreToolUse", given)
    assert said["hookSpecificOutput"]["permissionDecisionReason"] == "secrets/key: hands off"
    seen = [line["data"] for line in world.journal()]
    assert [(data["tool"], data["input"]["path"]) for data in seen] == [
        ("edit_file", "src/main.py"),
        ("write_file", "secrets/key"),
    ]
    assert seen[0]["input"] == {"path": "src/main.py", "old_text": "old\n", "new_text": "new\n"}
    assert seen[1]["input"]["content"] == "abc\n"


def test_a_rewritten_part_of_a_patch_is_a_refusal(world: World) -> None:
    world.hook("kodik", "PreToolUse", """echo '{"modified_input": {"file_path": "elsewhere"}}'""")
    given = payload(world, "codex/PreToolUse", tool_name="apply_patch", tool_input={"command": PATCH})
    _, said, _ = call(world, "codex", "PreToolUse", given)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_is_no_patch_is_shown_as_it_is(world: World) -> None:
    world.hook("kodik", "PreToolUse", "true")
    given = payload(world, "codex/PreToolUse", tool_name="apply_patch", tool_input={"command": "what?"})
    assert call(world, "codex", "PreToolUse", given)[:2] == (0, "")
    assert world.journal()[0]["data"]["input"] == {"command": "what?"}


HOSTILE = {
    "no JSON": "{", "a list": "[]", "a number": "7", "not UTF-8": "\udcff", "deep": "[" * 100_000,
    "odd types": '{"tool_name": 7, "tool_input": "x", "session_id": [], "cwd": {}}',
    "nothing": "", "an object": "{}", "another agent's words": '{"agent_action_name": "pre_run_command"}',
    "a tool without a name": '{"tool_name": "", "toolName": "", "tool_input": {"command": "ls"}}',
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
@pytest.mark.parametrize("agent", ["claude", "copilot"])
def test_a_hostile_payload(world: World, agent: str, what: str) -> None:
    """No traceback, and the status is always 0: some agents take any other status as a refusal, others ignore it."""
    event = event_of(SHELL_CALLS[agent])
    status, said, talk = call(world, agent, event, HOSTILE[what].encode("utf-8", "replace").decode())
    assert status == 0
    assert "Traceback" not in talk
    fine = what == "an object"
    assert bool(talk) != fine
    assert len(talk.splitlines()) <= 1
    if fine or agent == "copilot":  # copilot has no way to show its user a message
        assert said == ""
    else:
        assert "could not be judged" in said.pop("systemMessage")
        assert said == {}, "nothing is refused, nothing is granted"


@pytest.mark.parametrize("how", ["option", "settings"])
def test_a_failure_of_ours_obeys_the_posture(world: World, how: str) -> None:
    words = ["--on-failure", "deny"] if how == "option" else []
    if how == "settings":
        world.config('on_failure = "deny"\n')
    _, said, _ = call(world, "claude", "PreToolUse", "{", *words)
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "could not be judged" in said["hookSpecificOutput"]["permissionDecisionReason"]
    assert call(world, "kimi", "Stop", "{", *words)[0] == 2
    status, said, _ = call(world, "claude", "PostToolUse", "{", *words)
    assert (status, list(said)) == (0, ["systemMessage"]), "what has happened cannot be refused"
    codes = [problem["code"] for line in world.journal() for problem in line["decision"]["problems"]]
    assert codes[:2] == ["bridge-failed", "bridge-failed"]


def test_a_hook_that_outlasts_the_agent(world: World) -> None:
    """Claude gives a SessionEnd hook 1.5 s, so a background process runs the hook with the hook's own timeout."""
    world.hook("kolega", "SessionEnd", "sleep 300", timeout=1)
    assert call(world, "claude", "SessionEnd", payload(world, "claude/SessionEnd"))[:2] == (0, "")
    (ran,) = [made for line in world.journal() for made in line.get("calls", ())]
    assert (ran["run"], ran["limit_s"]) == (None, 1)
    late: list[dict[str, Any]] = []
    while not late:  # the test's timeout ends this loop
        late = [line["run"] for line in world.journal() if "background" in line]
        time.sleep(0.05)
    assert late[0]["ending"] == "timed_out"


def test_degradations_are_written_down(world: World) -> None:
    world.hook("kodik", "UserPromptSubmit", """echo '{"additional_context": "be brief"}'""")
    assert call(world, "goose", "UserPromptSubmit", payload(world, "goose/UserPromptSubmit"))[:2] == (0, "")
    assert call(world, "kimi", "UserPromptSubmit", payload(world, "kimicode/UserPromptSubmit"))[1] == "be brief\n"
    found = [line["decision"].get("problems", []) for line in world.journal()]
    assert [[problem["code"] for problem in problems] for problems in found] == [["effect-lost"], []]
    assert "goose UserPromptSubmit" in found[0][0]["where"]


@pytest.mark.parametrize("failed", [False, True])
def test_where_an_agent_hears_less_after_a_failed_tool_its_model_is_told_instead(world: World, failed: bool) -> None:
    """After a failed tool, Kolega Code 0.45.1 accepts only context from a hook."""
    world.hook("qwen", "PostToolUseFailure" if failed else "PostToolUse", "echo '{\"continue\": false}'", matcher="")
    payload = {"session_id": "s", "tool_name": "exec_command", "tool_input": {"command": "ls"}, "tool_output": "o"}
    done = world.command("bridge", "kolega", "PostToolUse", stdin=json.dumps({**payload, "is_error": failed}))
    answer = json.loads(done.stdout)
    assert (answer.get("continue") is False) is not failed
    assert ("wants the turn to end" in json.dumps(answer)) is failed


def test_a_replaced_output_has_the_tools_own_shape(world: World) -> None:
    world.hook("kolega", "PostToolUse", """echo '{"hookSpecificOutput": {"updatedToolOutput": "hidden"}}'""")
    _, said, _ = call(world, "claude", "PostToolUse", payload(world, "claude/PostToolUse"))
    replaced = said["hookSpecificOutput"]["updatedToolOutput"]
    assert (replaced["stdout"], replaced["stderr"], replaced["interrupted"]) == ("hidden", "", False)
    _, said, _ = call(world, "codex", "PostToolUse", payload(world, "codex/PostToolUse"))
    assert said == {"decision": "block", "reason": "hidden"}


def test_shadow_says_nothing(world: World) -> None:
    world.hook("kodik", "PreToolUse", GUARD)
    given = payload(world, "claude/PreToolUse")
    assert call(world, "claude", "PreToolUse", given, "--mode", "shadow") == (0, "", "")
    assert world.journal()[0]["decision"]["verdict"] == "block"


def test_the_project_is_the_payloads(world: World) -> None:
    """The bridge may be started in any directory. A plugin, for example, starts it in its own folder."""
    world.hook("kodik", "PreToolUse", GUARD, scope="project")
    given = payload(world, "goose/PreToolUse")
    elsewhere = world.root / "elsewhere"
    elsewhere.mkdir()
    here, world.project = world.project, elsewhere
    try:
        assert call(world, "goose", "PreToolUse", given)[1] == "", "the project's hooks wait for approval"
        assert call(world, "goose", "PreToolUse", given, "--trust", "all")[1]["decision"] == "block"
    finally:
        world.project = here


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["claude", "PreToolUs"], "Did you mean `PreToolUse`?"),
        (["claud", "PreToolUse"], "Did you mean `claude`?"),
        (["claude"], "Missing argument"),
        (["claude", "PreToolUse", "--dialect", "nope"], "there is no dialect"),
        (["claude", "PreToolUse", "--wat"], "No such option"),
    ],
)
def test_a_bad_call(world: World, words: list[str], said: str) -> None:
    done = world.command("bridge", *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert said in done.stderr


LOG = "cat > /dev/null; echo ran >> {}/ran; exit 2"


def test_two_entries_of_one_agent_run_hooks_once(world: World) -> None:
    """If both the user's and the project's config have our entry, the agent calls us twice for one call and gets the
    same answer twice."""
    world.hook("kodik", "PreToolUse", LOG.format(world.root))
    given = payload(world, "claude/PreToolUse")
    first = call(world, "claude", "PreToolUse", given)
    assert "deny" in json.dumps(first[1])
    assert call(world, "claude", "PreToolUse", given) == first
    assert (world.root / "ran").read_text() == "ran\n"
    assert [problem["code"] for problem in world.journal()[1]["decision"]["problems"]] == ["fired-twice"]
    (counted,) = json.loads(world.command("stats", "--json").stdout)["hooks"]
    assert (counted["runs"], counted["blocks"]) == (1, 1)
    call(world, "claude", "PreToolUse", payload(world, "claude/PreToolUse", tool_input={"command": "other"}))
    call(world, "claude", "PreToolUse", payload(world, "claude/PreToolUse", tool_use_id="next"))
    assert (world.root / "ran").read_text() == "ran\n" * 3, "another input or id is another call"


def test_two_entries_of_which_the_first_had_nothing_to_say(world: World) -> None:
    """Then the second one has nothing to say either, and no file is written for it."""
    world.hook("kodik", "PreToolUse", f"cat > /dev/null; echo ran >> {world.root}/ran")
    given = payload(world, "claude/PreToolUse")
    assert call(world, "claude", "PreToolUse", given) == call(world, "claude", "PreToolUse", given)
    assert (world.root / "ran").read_text() == "ran\n"
    assert [problem["code"] for problem in world.journal()[1]["decision"]["problems"]] == ["fired-twice"]
    assert [path.name for path in (world.state / "firings").iterdir()] == ["claims"]


def test_calls_without_an_id_are_never_taken_for_one(world: World) -> None:
    world.hook("kodik", "PreToolUse", LOG.format(world.root))
    for _ in range(2):
        assert call(world, "gemini", "BeforeTool", payload(world, "gemini/BeforeTool"))[1] != ""
    assert (world.root / "ran").read_text() == "ran\n" * 2


def test_a_changed_hook_is_asked_again(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    given = payload(world, "claude/PreToolUse")
    assert call(world, "claude", "PreToolUse", given)[1] == ""
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    assert call(world, "claude", "PreToolUse", given)[1] != ""


def test_an_agent_that_also_reads_anothers_files(world: World) -> None:
    """Copilot also runs the entries in Claude's file, but honours only its own format. Its two calls have no common id,
    so nothing tells them from two different calls, and the hooks run for both."""
    script = LOG.format(world.root).replace("exit 2", """echo '{"modified_input": {"file_path": "b"}}'""")
    world.hook("kodik", "PreToolUse", script)
    session = {"session_id": "s", "sessionId": "s"}
    theirs = payload(world, "claude/PreToolUse.Write", tool_input={"file_path": "a", "content": "x"}, **session)
    own = payload(world, "copilot/preToolUse.create", toolArgs={"path": "a", "file_text": "x"}, **session)
    for count in (1, 2):
        if count == 2:
            theirs = json.dumps({**json.loads(theirs), "tool_use_id": "next"})
        said = call(world, "claude", "PreToolUse", theirs)[1]
        assert said["hookSpecificOutput"]["updatedInput"] == {"file_path": "b", "content": "x"}
        assert call(world, "copilot", "preToolUse", own)[1] == {"modifiedArgs": {"path": "b", "file_text": "x"}}
        assert (world.root / "ran").read_text() == "ran\n" * count * 2


def test_what_an_agent_runs_itself_is_left_to_it(world: World) -> None:
    """Claude runs the hooks in its own files itself. In any other agent, anyhook runs them."""
    world.hook("claude", "PreToolUse", LOG.format(world.root))
    assert call(world, "claude", "PreToolUse", payload(world, "claude/PreToolUse"))[1] == ""
    assert world.journal()[0]["decision"]["hooks"][0]["status"] == "disabled"
    assert not (world.root / "ran").exists()
    assert call(world, "goose", "PreToolUse", payload(world, "goose/PreToolUse"))[1]["decision"] == "block"
    assert (world.root / "ran").exists()


def shell_call(world: World, command: str) -> str:
    return payload(world, "codex/PreToolUse", tool_input={"command": command}, tool_use_id=command)


REFUSED_COMMANDS = [
    "rm -rf {state}", "echo x > {state}/journal.jsonl", "sed -i s/a/b/ {state}/ledger.json", "anyhook trust --yes",
    "cd /tmp && anyhook uninstall codex", "python3 -m anyhook disable x", "cp evil {config}/anyhook/config.toml",
    "cat x >> ~/.codex/hooks.json", "tee state/anyhook/journal.jsonl",
]  # fmt: skip
FINE_COMMANDS = [
    "cat {state}/journal.jsonl", "anyhook list", "anyhook log --json", "pip install anyhook", "ls -la {state}",
    "grep anyhook README.md > notes", "echo hi",
]  # fmt: skip


@pytest.mark.parametrize("command", [*REFUSED_COMMANDS, *FINE_COMMANDS])
def test_an_agent_leaves_our_files_alone(world: World, command: str) -> None:
    assert world.command("install", "codex").returncode == 0
    line = command.format(state=world.state, config=world.env["XDG_CONFIG_HOME"])
    _, said, _ = call(world, "codex", "PreToolUse", shell_call(world, line))
    assert (said != "") == (command in REFUSED_COMMANDS), said
    if said:
        assert "protect = false" in said["hookSpecificOutput"]["permissionDecisionReason"]
        assert world.journal()[-1]["decision"]["hook"] == "inprocess:managed:pre_tool:self-protection"
        world.config("protect = false\n")
        again = shell_call(world, line).replace("s/a/b/", "s/a/c/")
        assert call(world, "codex", "PreToolUse", again)[1] == ""


@pytest.mark.parametrize(
    "command",
    [
        'case x in *"rm -rf"*) echo "rm -rf is not" >&2 ;; esac',
        "ls src >&2 || true",
        "echo 'no build here, look into src' >&2",
    ],
)
def test_folders_that_a_hooks_command_names_are_for_everybody(world: World, command: str) -> None:
    world.write(world.project / "src/old.py", "")
    world.write(world.project / "build/x.o", "")
    world.hook("kodik", "PreToolUse", command, "project")
    world.approve()
    for line in ("rm -rf build", "rm -rf x", "rm src/old.py", "echo y > src/new.py", "touch notes.txt"):
        assert call(world, "codex", "PreToolUse", shell_call(world, line))[1] == "", line
    for line in ("rm .kodik/hooks/hooks.json", "rm -rf .kodik", f"rm -rf {world.project}", "rm -rf ."):
        _, said, _ = call(world, "codex", "PreToolUse", shell_call(world, line))
        assert "protect = false" in said["hookSpecificOutput"]["permissionDecisionReason"], line


def test_an_edit_that_takes_our_entry_out(world: World) -> None:
    assert world.command("install", "claude").returncode == 0
    path = str(world.home / ".claude/settings.json")

    def edit(tool: str, given: dict[str, Any]) -> bool:
        told = payload(world, "claude/PreToolUse", tool_name=tool, tool_input={"file_path": path, **given})
        return bool(call(world, "claude", "PreToolUse", told)[1])

    assert edit("Edit", {"old_string": '"python -m anyhook bridge claude Stop"', "new_string": '"true"'})
    assert not edit("Edit", {"old_string": '"theme": 1', "new_string": '"theme": 2'})
    assert edit("Write", {"content": "{}"})
    assert edit("Write", {"content": '{"hooks": "… anyhook bridge claude Stop …"}'})
    assert not edit("Write", {"content": Path(path).read_text().replace('"theme": 1', '"theme": 2')})
    path = str(world.state / "ledger.json")
    assert edit("Write", {"content": "{}"})
    path = str(world.project / "settings.json")
    assert not edit("Write", {"content": "{}"})


def test_an_agent_is_not_kept_working_for_ever(world: World) -> None:
    """goose has no limit, so the dialect's applies: after five blocks it may stop. A new prompt resets the count."""
    world.hook("kodik", "Stop", "echo more >&2; exit 2")
    given = payload(world, "goose/Stop")
    assert [bool(call(world, "goose", "Stop", given)[1]) for _ in range(6)] == [True] * 5 + [False]
    codes = [problem["code"] for problem in world.journal()[-1]["decision"]["problems"]]
    assert "bound-reached" in codes
    session = json.loads(given)["session_id"]
    call(world, "goose", "UserPromptSubmit", payload(world, "goose/UserPromptSubmit", session_id=session))
    assert call(world, "goose", "Stop", given)[1]["decision"] == "block"


@pytest.mark.parametrize("agent", ["codex", "qwen", "goose"])
def test_ids_of_sub_agents_and_turns_are_passed_on(world: World, agent: str) -> None:
    """The id and the kind of a sub-agent are different things, and a turn has the id that its agent gave it."""
    world.hook("claude", "PreToolUse", f"cat > {world.root}/claude.json")
    world.hook("codex", "PreToolUse", f"cat > {world.root}/codex.json")
    world.hook("agenthooks", "subagent_start", f"cat > {world.root}/agenthooks.json")
    ids = {"agent_id": "sub1", "agent_type": "explore", "turn_id": "turn-7"}
    given = {"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(world.project), **ids}
    call(world, agent, "PreToolUse", json.dumps(given))
    seen = json.loads((world.root / "claude.json").read_text())
    if agent != "goose":  # it names no sub-agents
        assert (seen["agent_id"], seen["agent_type"]) == ("sub1", "explore")
    if agent == "qwen":
        assert json.loads((world.root / "codex.json").read_text())["turn_id"] == "turn-7"
    if agent == "codex":
        call(world, agent, "SubagentStart", json.dumps({"session_id": "s", "cwd": str(world.project), **ids}))
        assert json.loads((world.root / "agenthooks.json").read_text())["subagent_name"] == "explore"


def test_a_claude_gate_that_copilot_runs_with_its_own_fields(world: World) -> None:
    """Copilot runs a project's Claude hooks itself, but sends `path`, which such a gate does not read. We ask it too,
    with the fields that it is written for. The program is started by another one, as with `uv run`."""
    guard = (
        "import json, sys\nsys.exit(2 if '.env' in json.load(sys.stdin)['tool_input'].get('file_path', '') else 0)\n"
    )
    world.write(world.project / ".claude/hooks/guard.py", guard)
    world.write(world.root / "bin/uv", '#!/bin/sh\nshift\nexec python3 "$@"\n', 0o755)
    world.env["PATH"] = f"{world.root}/bin:{world.env['PATH']}"
    world.hook("claude", "PreToolUse", "uv run .claude/hooks/guard.py", "project")
    world.approve()
    for tool in ("view", "create"):
        arguments = {"path": f"{world.project}/.env", "file_text": "x"}
        given = payload(world, "copilot/preToolUse.view", toolName=tool, toolArgs=arguments)
        assert call(world, "copilot", "preToolUse", given)[1]["permissionDecision"] == "deny", tool
