"""`anyhook import`: the transcripts that agents keep, in the formats that real agents write."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest
from journal_box import made

from anyhook.journal.journal import Journal

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

AT = "2026-11-16T22:18:25.735Z"
LINE = "rm -rf build && echo hi > made.txt"


def lines(*objects: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(each)}\n" for each in objects)


def claude(home: Path, project: str) -> Path:
    base = {"sessionId": "s1", "cwd": project, "timestamp": AT, "isSidechain": False}
    use = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": LINE}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "no such folder", "is_error": True}
    path = home / ".claude/projects/-p/s1.jsonl"
    text = lines(
        {"type": "queue-operation", "operation": "enqueue", "sessionId": "s1"},
        {**base, "type": "user", "message": {"role": "user", "content": "please do it"}},
        {**base, "type": "user", "isMeta": True, "message": {"role": "user", "content": "not the person's"}},
        {**base, "type": "assistant", "message": {"role": "assistant", "content": [use]}},
        {**base, "type": "user", "message": {"role": "user", "content": [result]}},
    )
    return put(path, f"{text}not JSON\n")


def codex(home: Path, project: str) -> Path:
    def item(**payload: object) -> dict[str, Any]:
        return {"timestamp": AT, "type": "response_item", "payload": payload}

    told = [{"type": "input_text", "text": "please do it"}]
    added = [{"type": "input_text", "text": f"<environment_context><cwd>{project}</cwd></environment_context>"}]
    text = lines(
        {"timestamp": AT, "type": "session_meta", "payload": {"id": "s1", "cwd": project}},
        item(type="message", role="user", content=added),
        item(type="message", role="user", content=told),
        item(type="function_call", name="exec_command", arguments=json.dumps({"cmd": LINE}), call_id="c1"),
        item(type="function_call_output", call_id="c1", output="Process exited with code 0"),
    )
    return put(home / ".codex/sessions/2026/11/16/rollout-2026-11-16T22-18-31-s1.jsonl", text)


def codex_2025(home: Path, project: str) -> Path:
    """As Codex 0.20 wrote it: a first line about the session, then the model's items alone."""
    told = f"<environment_context>\n  <cwd>{project}</cwd>\n</environment_context>"
    given = json.dumps({"command": ["bash", "-lc", LINE], "timeout_ms": 120000})
    output = json.dumps({"output": "done", "metadata": {"exit_code": 0, "duration_seconds": 0.1}})
    text = lines(
        {"id": "s1", "timestamp": AT, "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": told}]},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "please do it"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"},
        {"type": "function_call", "id": "fc_1", "name": "shell", "arguments": given, "call_id": "c1"},
        {"record_type": "state"},
        {"type": "function_call_output", "call_id": "c1", "output": output},
    )
    return put(home / ".codex/sessions/2025/08/16/rollout-2025-08-16T22-18-31-s1.jsonl", text)


def gemini(home: Path, project: str) -> Path:
    result = [{"functionResponse": {"id": "c1", "response": {"output": "done"}}}]
    call: dict[str, Any] = {"id": "c1", "name": "run_shell_command", "args": {"command": LINE}, "result": result}
    call.update(status="success", timestamp=AT)
    message = {"id": "m2", "timestamp": AT, "type": "gemini", "content": ""}
    text = lines(
        {"sessionId": "s1", "projectHash": "3d9c", "startTime": AT, "kind": "main"},
        {"$set": {"messages": [{"id": "m0", "type": "user", "content": [{"text": "<session_context>"}]}]}},
        {"id": "m1", "timestamp": AT, "type": "user", "content": [{"text": "please do it"}]},
        message,
        {"$set": {"lastUpdated": AT}},
        {**message, "toolCalls": [call]},
    )
    put(home / ".gemini/tmp/p/.project_root", project)
    return put(home / ".gemini/tmp/p/chats/session-2026-11-16T22-18-s1.jsonl", text)


def copilot(home: Path, project: str) -> Path:
    def event(kind: str, **data: object) -> dict[str, Any]:
        return {"type": kind, "data": data, "timestamp": AT}

    text = lines(
        event("session.start", sessionId="s1", context={"cwd": project}),
        event("user.message", content="please do it"),
        event("tool.execution_start", toolCallId="c1", toolName="bash", arguments={"command": LINE}),
        event("tool.execution_complete", toolCallId="c1", success=True, result={"content": "done"}),
    )
    return put(home / ".copilot/session-state/s1/events.jsonl", text)


def goose(home: Path, project: str) -> Path:
    path = home / ".local/share/goose/sessions/sessions.db"
    value = {"name": "shell", "arguments": {"command": LINE}}
    ask = {"type": "toolRequest", "id": "c1", "toolCall": {"status": "success", "value": value}}
    answer = {"type": "toolResponse", "id": "c1", "toolResult": {"status": "error", "error": "not allowed"}}
    told = [("user", {"type": "text", "text": "please do it"}), ("assistant", ask), ("user", answer)]
    with database(path) as opened:
        opened.execute("CREATE TABLE sessions (id TEXT, working_dir TEXT)")
        opened.execute("INSERT INTO sessions VALUES ('s1', ?)", (project,))
        opened.execute(
            "CREATE TABLE messages (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT,"
            " created_timestamp INTEGER)"
        )
        for role, part in told:
            opened.execute(
                "INSERT INTO messages (session_id, role, content_json, created_timestamp) VALUES ('s1', ?, ?, ?)",
                (role, json.dumps([part]), 1794867540),
            )
    return path


def opencode(home: Path, project: str) -> Path:
    path = home / ".local/share/opencode/opencode.db"
    state: dict[str, Any] = {"status": "completed", "input": {"command": LINE}, "output": "done"}
    state["time"] = {"start": 1794867565067, "end": 1794867565865}
    told: dict[str, tuple[str, dict[str, Any]]] = {
        "p1": ("m1", {"type": "text", "text": "please do it"}),
        "p2": ("m2", {"type": "tool", "tool": "bash", "callID": "c1", "state": state}),
    }
    with database(path) as opened:
        opened.execute("CREATE TABLE session (id TEXT, directory TEXT)")
        opened.execute("INSERT INTO session VALUES ('s1', ?)", (project,))
        opened.execute("CREATE TABLE message (id TEXT, data TEXT)")
        opened.execute("""INSERT INTO message VALUES ('m1', '{"role": "user"}'), ('m2', '{"role": "assistant"}')""")
        opened.execute("CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, time_created INTEGER, data TEXT)")
        for number, (part, (message, data)) in enumerate(told.items()):
            row = (part, message, "s1", 1794867557384 + number, json.dumps(data))
            opened.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?)", row)
    return path


def qwen(home: Path, project: str) -> Path:
    def line(kind: str, role: str, *parts: dict[str, Any], **more: object) -> dict[str, Any]:
        message = {"role": role, "parts": [*parts]}
        return {"sessionId": "s1", "timestamp": AT, "type": kind, "cwd": project, "message": message, **more}

    call = {"functionCall": {"id": "c1", "name": "run_shell_command", "args": {"command": LINE}}}
    result = {"functionResponse": {"id": "c1", "name": "run_shell_command", "response": {"output": "done"}}}
    text = lines(
        line("user", "user", {"text": "please do it"}),
        {"sessionId": "s1", "timestamp": AT, "type": "system", "cwd": project, "subtype": "ui_telemetry"},
        line("assistant", "model", call),
        line("tool_result", "user", result, toolCallResult={"callId": "c1", "status": "success"}),
    )
    return put(home / ".qwen/projects/-p/chats/s1.jsonl", text)


def kimi(home: Path, project: str) -> Path:
    def event(kind: str, **more: object) -> dict[str, Any]:
        inside = {"type": kind, "toolCallId": "c1", **more}
        return {"type": "context.append_loop_event", "agentId": "main", "event": inside, "time": 1794867557384}

    def message(origin: str, text: str) -> dict[str, Any]:
        said = {"role": "user", "content": [{"type": "text", "text": text}], "origin": {"kind": origin}}
        return {"type": "context.append_message", "agentId": "main", "message": said, "time": 1794867557384}

    folder = home / ".kimi-code/sessions/wd_p_1/s1"
    put(folder / "state.json", json.dumps({"id": "s1", "cwd": project}))
    text = lines(
        {"type": "metadata", "protocol_version": "1.5"},
        message("user", "please do it"),
        message("injection", "today is Monday"),
        event("tool.call", name="Bash", args={"command": LINE}),
        event("tool.result", result={"output": "done", "durationMs": 51}),
    )
    return put(folder / "agents/main/wire.jsonl", text)


AGENTS = {each.__name__: each for each in (claude, codex, gemini, copilot, goose, opencode, qwen, kimi)}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


class database:  # noqa: N801 (used as a function)
    """Create a SQLite file and keep it open for a `with` block."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True)
        self.opened = sqlite3.connect(path)

    def __enter__(self) -> sqlite3.Connection:
        return self.opened

    def __exit__(self, *_: object) -> None:
        with closing(self.opened):
            self.opened.commit()


def imported(world: World) -> list[dict[str, Any]]:
    path = world.state / "imported/journal.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def rule(world: World) -> None:
    world.write(world.home / "config/anyhook/hooks.toml", '[[rule]]\nname = "no made"\nwhen = "writes made.txt"\n')


@pytest.mark.parametrize("agent", AGENTS)
def test_prompts_and_calls_of_a_transcript_become_events(agent: str, world: World) -> None:
    AGENTS[agent](world.home, str(world.project))
    done = world.command("import", agent)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"{agent}: 3 new of 3 events, in 1 session\n"
    prompt, call, result = imported(world)
    assert prompt["data"]["prompt"] == "please do it"
    assert (call["event"], call["host"], call["session"]) == ("pre_tool", agent, "s1")
    assert call["data"]["input"] == {"command": LINE}
    assert call["project"] == str(world.project)
    assert call["at"] // 10**9 in range(1794867500, 1794867570)
    assert result["event"] == ("post_tool_failure" if agent in ("claude", "goose") else "post_tool")
    assert world.command("import", agent).stdout.startswith(f"{agent}: 0 new of 3 events"), "nothing is there twice"
    assert not world.journal(), "it is a journal of its own"


@pytest.mark.parametrize("variable", ["QWEN_HOME", "QWEN_RUNTIME_DIR"])
def test_qwen_sessions_are_found_where_its_variables_say(world: World, variable: str) -> None:
    """The second comes first where both are set: it has the sessions, and the other one the settings too."""
    path = qwen(world.home, str(world.project))
    put(world.root / "moved/projects/-p/chats/s1.jsonl", path.read_text())
    path.unlink()
    world.env |= {"QWEN_HOME": str(world.root / "other"), variable: str(world.root / "moved")}
    assert world.command("import", "qwen").stdout == "qwen: 3 new of 3 events, in 1 session\n"


def test_codex_sessions_of_2025_are_read(world: World) -> None:
    codex_2025(world.home, str(world.project))
    assert world.command("import", "codex").stdout == "codex: 3 new of 3 events, in 1 session\n"
    prompt, call, result = imported(world)
    assert (prompt["data"]["prompt"], call["data"]["input"]) == ("please do it", {"command": LINE})
    assert (call["project"], call["session"]) == (str(world.project), "s1")
    assert "done" in result["data"]["output"]
    assert world.command("import", "codex").stdout.startswith("codex: 0 new of 3 events"), "nothing is there twice"


def test_events_of_one_time_without_ids_are_all_taken_and_once(world: World) -> None:
    """A Codex session of 2025 has one time for all, and a second file of the session repeats what is in the first."""
    path = codex_2025(world.home, str(world.project))
    said = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "please do it"}]}
    given = json.dumps({"command": ["bash", "-lc", "ls"]})
    call = {"type": "function_call", "name": "shell", "arguments": given}
    text = path.read_text() + lines(said, call, call)
    for name in ("rollout-2025-08-16T22-18-31-s1", "rollout-2025-08-17T10-00-00-s1"):
        put(path.with_name(f"{name}.jsonl"), text)
    assert world.command("import", "codex").stdout == "codex: 6 new of 12 events, in 1 session\n"
    assert [line["event"] for line in imported(world)].count("user_prompt_submit") == 2
    assert world.command("import", "codex").stdout.startswith("codex: 0 new of 12 events")


def test_codex_sessions_of_spring_2025_are_read(world: World) -> None:
    """As its first version wrote them: one object, in a file that ends in `.json`."""
    path = codex_2025(world.home, str(world.project))
    session, *items = map(json.loads, path.read_text().splitlines())
    path.unlink()
    old = put(
        world.home / ".codex/sessions/rollout-2025-05-05-s1.json", json.dumps({"session": session, "items": items})
    )
    assert world.command("import", "codex").stdout == "codex: 3 new of 3 events, in 1 session\n"
    prompt, call, result = imported(world)
    assert (prompt["data"]["prompt"], call["data"]["input"]) == ("please do it", {"command": LINE})
    assert (call["project"], call["session"], result["event"]) == (str(world.project), "s1", "post_tool")
    assert world.command("import", "codex").stdout.startswith("codex: 0 new of 3 events"), "nothing is there twice"
    old.write_text("{")
    assert "rollout-2025-05-05-s1.json: it is not a JSON object" in world.command("import", "codex").stderr
    old.write_text(json.dumps({"items": items}))
    assert "1 of its calls left out: no line says which session they are of" in world.command("import", "codex").stderr


def test_codex_calls_without_a_session_are_named(world: World) -> None:
    path = codex_2025(world.home, str(world.project))
    put(path, path.read_text().partition("\n")[2])
    done = world.command("import", "codex")
    assert (done.returncode, imported(world) if (world.state / "imported/journal.jsonl").exists() else []) == (1, [])
    assert "1 of its calls left out: no line says which session they are of" in done.stderr


@pytest.mark.parametrize(
    ("code", "inputs"),
    [
        ('text(await tools.exec_command({"cmd":"git status"}))', ["git status"]),
        ("const r = await tools.exec_command({cmd: 'echo \\'a\\'', workdir: '/x'});", ["echo 'a'"]),
        (
            "await f([tools.exec_command({workdir: 'w', cmd: `ls`}), tools.exec_command({cmd: 'rm a'})])",
            ["ls", "rm a"],
        ),
        ('text(await tools.exec_command({justification: "{cmd: 1}", cmd: "echo {tools.x}"}));', ["echo {tools.x}"]),
        ('const r = await tools.apply_patch("*** Begin Patch\\n"); text(r)', ["*** Begin Patch\n"]),
        ("const p = '*** Begin';\nawait tools.apply_patch(p);\ntools.exec_command({cmd: 'ls'})", ["*** Begin", "ls"]),
        ("let p = 'ls'\nawait tools.exec_command({cmd: p});", ["ls"]),
        ("tools.exec_command({cmd: 'ls'}); text(`it's ${x}`); tools.exec_command({cmd: 'rm a'})", ["ls", "rm a"]),
        ("tools.exec_command({cmd: 'ls'}); text(`${tools.exec_command(x)}`)", ["ls", None]),
        ("let p = 'ls'; p = f(); await tools.exec_command({cmd: p});", []),
        ("let p = 'ls'; p += ' -l'; await tools.exec_command({cmd: p});", []),
        ("const p = 'ls ' + x; await tools.exec_command({cmd: p});", []),
        ("for (const p of ps) await tools.exec_command({cmd: p});", []),
        ("await tools.exec_command({cmd: `rm ${p}`})", []),
        ("await tools.exec_command({cmd: ['rm', p].join(' ')})", []),
        ("await tools.exec_command({cmd: 'ls'}); await tools.mcp__a__b({query: 'x'})", ["ls", None]),
        ("const t = tools; await tools.exec_command({cmd: 'ls'}); await t.exec_command({cmd: 'rm a'})", ["ls", None]),
    ],
)
def test_codex_code_mode_is_read_as_the_calls_in_it(code: str, inputs: list[Any], world: World) -> None:
    """What is not known to be a line or a patch stays code (None)."""
    path = codex(world.home, str(world.project))
    *before, _, _ = path.read_text().splitlines()
    call = {"type": "custom_tool_call", "name": "exec", "call_id": "c1", "input": code}
    done = {"type": "custom_tool_call_output", "call_id": "c1", "output": "done"}
    items = [{"timestamp": AT, "type": "response_item", "payload": each} for each in (call, done)]
    put(path, "\n".join([*before, lines(*items)]))
    world.command("import", "codex")
    calls = [line for line in imported(world) if line["event"] == "pre_tool"]
    assert [line["data"]["input"].get("command") for line in calls] == (inputs or [None])
    assert [line["data"]["tool"] for line in calls if "code" in line["data"]["input"]] == ["exec"] * (
        None in (inputs or [None])
    )
    assert all(line["data"]["input"]["code"] == code for line in calls if line["data"]["tool"] == "exec")
    assert imported(world)[-1]["event"] == "post_tool"
    assert world.command("import", "codex").stdout.startswith("codex: 0 new of")


@pytest.mark.parametrize(
    ("said", "event", "text"),
    [
        ("Chunk ID: b4\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\none\n", "post_tool", "one\n"),
        (
            "Chunk ID: b4\nWall time: 0.1 seconds\nProcess exited with code 3\nOutput:\none\n",
            "post_tool_failure",
            "one\n",
        ),
        (
            "Wall time: 0 seconds\nOutput:\nExit code: 0\nWall time: 0 seconds\nOutput:\nSuccess.\n",
            "post_tool",
            "Success.\n",
        ),
        ("apply_patch verification failed: no such file", "post_tool_failure", None),
        ('exec_command failed: CreateProcess { message: "Rejected" }', "post_tool_failure", None),
        ("Command blocked by PreToolUse hook: A forced push. Command: git push -f", "post_tool_failure", None),
        ('{"output": "one", "metadata": {"exit_code": 1}}', "post_tool_failure", None),
    ],
)
def test_codex_says_above_the_output_how_a_run_ended(said: str, event: str, text: str | None, world: World) -> None:
    """Outputs as Codex 0.166.0 wrote them in a session. The last one is from an older version."""
    path = codex(world.home, str(world.project))
    *before, last = path.read_text().splitlines()
    line = json.loads(last)
    line["payload"]["output"] = said
    put(path, "\n".join([*before, json.dumps(line), ""]))
    world.command("import", "codex")
    result = imported(world)[-1]
    assert result["event"] == event
    assert result["data"]["output" if event == "post_tool" else "tool_error"] == (said if text is None else text)


@pytest.mark.parametrize(
    "call",
    [
        {"name": "read_file", "args": {"absolute_path": "{project}/src/a b.py"}},
        {"name": "run_shell_command", "args": {"command": "cd {project} && ls"}},
        {"name": "list_directory", "args": {"path": "{project}"}},
    ],
)
def test_the_project_of_an_older_gemini_session_is_found_in_the_session(call: dict[str, Any], world: World) -> None:
    """The place is called by a digest of the folder, no list names it, and a call does."""
    folder = str(world.project)
    told = json.loads(json.dumps({"id": "c1", "timestamp": AT, **call}).replace("{project}", folder))
    message = {"id": "m", "timestamp": AT, "type": "gemini", "content": "", "toolCalls": [told]}
    name = sha256(folder.encode()).hexdigest()
    document = {"sessionId": "s1", "projectHash": name, "messages": [message]}
    path = put(world.home / f".gemini/tmp/{name}/chats/session-1.json", json.dumps(document, indent=2))
    world.command("import", "gemini")
    assert {line["project"] for line in imported(world)} == {folder}
    path.rename(put(world.home / f".gemini/tmp/{'a' * 64}/chats/session-1.json", ""))
    assert world.command("import", "gemini").stdout.startswith("gemini: 0 new of"), "another folder's, and nothing new"


@pytest.mark.parametrize("known", ["trustedFolders.json", "projects.json"])
def test_the_project_of_an_older_gemini_session_is_found(known: str, world: World) -> None:
    """The place is called by a digest of the folder, or by a short name that a list tells."""
    folder, home = str(world.project), world.home / ".gemini"
    is_list = known == "projects.json"
    path = gemini(world.home, folder)
    (home / "tmp/p/.project_root").unlink()
    name = "p" if is_list else sha256(folder.encode()).hexdigest()
    put(home / f"tmp/{name}/chats/session-1.jsonl", path.read_text())
    if not is_list:
        path.unlink()
    both = {"/elsewhere": "q", folder: "p"}
    put(home / known, json.dumps({"projects": both} if is_list else dict.fromkeys(both, "TRUST_FOLDER")))
    world.command("import", "gemini")
    assert {line["project"] for line in imported(world)} == {folder}


@pytest.mark.parametrize("agent", AGENTS)
def test_a_rule_is_tried_on_it_from_the_first_day(agent: str, world: World) -> None:
    AGENTS[agent](world.home, str(world.project))
    world.command("import")
    rule(world)
    told = json.loads(world.command("report", "no made", "--json").stdout)
    assert (told["calls"], told["would_have_stopped"], told["stopped"]) == (1, 1, 0)
    tried = json.loads(world.command("backtest", "no made", "--json").stdout)
    (row,) = tried["hooks"].values()
    assert (row["events"], row["blocks"], row["runs"]) == (1, 1, 0)
    assert tried["findings"][0]["kind"] == "blocks"


@pytest.mark.parametrize(("call", "calls"), [("c1", 1), ("c2", 2)])
def test_a_call_that_was_recorded_is_not_counted_again(call: str, calls: int, world: World) -> None:
    """The agent had called anyhook during the session that is imported later."""
    rule(world)
    hook = json.loads(world.command("list", "--json").stdout)["hooks"][0]["id"]
    data = {"tool": "Bash", "input": {"command": LINE}, "call_id": call}
    recorded = made(9, hooks=[(hook, "block", 0.0, "exited")], host="codex", session="s1", data=data)
    journal = Journal(str(world.state))
    assert journal.put(json.dumps({**recorded, "project": str(world.project)}).encode() + b"\n")
    journal.close()
    codex(world.home, str(world.project))
    world.command("import", "codex")
    told = json.loads(world.command("report", "no made", "--json").stdout)
    assert (told["calls"], told["stopped"], told["would_have_stopped"]) == (calls, 1, calls - 1)


def test_a_pack_is_tried_as_a_whole(world: World) -> None:
    claude(world.home, str(world.project))
    world.command("import", "claude")
    world.write(world.home / "config/anyhook/hooks.toml", 'use = ["git", "files"]\n')
    tried = json.loads(world.command("backtest", "git", "--json").stdout)
    assert len(tried["hooks"]) > 5
    assert all(":git:" in name for name in tried["hooks"])
    assert tried["found"] == 0


def test_a_rule_that_runs_a_command_is_tried_where_it_holds_only(world: World) -> None:
    claude(world.home, str(world.project))
    world.command("import", "claude")
    text = '[[rule]]\nname = "{}"\nwhen = "writes {}"\nthen = "deny"\nrun = "echo {} >&2; false"\n'
    rules = text.format("made", "made.txt", "no {path}") + text.format("other", "other.txt", "never")
    world.write(world.home / "config/anyhook/hooks.toml", rules)
    tried = json.loads(world.command("backtest", "made", "other", "--json", "--sandbox", "none", "--jobs", "1").stdout)
    made, other = tried["hooks"].values()
    assert (made["runs"], made["blocks"]) == (1, 1)
    assert (other["runs"], other["blocks"]) == (0, 0)
    assert tried["findings"][0]["what"] == f"no {world.project}/made.txt"


def test_a_function_is_tried_in_a_process_of_its_own(world: World) -> None:
    claude(world.home, str(world.project))
    world.command("import", "claude")
    text = (
        'from anyhook.hooks import before, deny\n@before.write("made.txt")\ndef it(call):\n    deny(call.command[:6])\n'
    )
    world.write(world.home / "config/anyhook/hooks.py", text)
    tried = json.loads(world.command("backtest", "it", "--json", "--sandbox", "none", "--jobs", "1").stdout)
    (row,) = tried["hooks"].values()
    assert (row["events"], row["runs"], row["blocks"]) == (1, 1, 1)
    assert tried["findings"][0]["what"] == "rm -rf"


def test_what_cannot_be_read_is_said(world: World) -> None:
    put(world.home / ".local/share/goose/sessions/sessions.db", "no database")
    done = world.command("import", "goose")
    assert done.returncode == 1
    assert "not read" in done.stderr
    assert "sessions.db" in done.stderr
    assert "Did you mean `claude`" in world.command("import", "clade").stderr


def test_secrets_stay_out(world: World) -> None:
    path = claude(world.home, str(world.project))
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    path.write_text(path.read_text().replace("echo hi", f"GITHUB_TOKEN={secret} gh"))
    world.command("import", "claude")
    assert secret not in (world.state / "imported/journal.jsonl").read_text()
