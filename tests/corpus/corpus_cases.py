"""The corpus's calls: every dialect with every answer and event, every host with every payload, and all of them
together."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

from corpus_scenes import DIALECTS, KINDS, OWN

Case = dict[str, Any]

HOSTS = ("claude", "codex", "gemini", "qwen", "copilot", "goose", "kimi", "vibe", "cline", "opencode")
ALIASES = {"claude_agent_sdk": "claude", "kimicode": "kimi"}
"""Payload folders that are not named after their agent."""

SHELL = {
    "kode": "shell", "kodik": "Bash", "agenthooks": "Shell", "kolega": "execute_terminal_command", "kodelet": "bash",
    "claude": "Bash", "codex": "Bash", "gemini": "run_shell_command", "qwen": "run_shell_command", "copilot": "bash",
    "goose": "shell",
}  # fmt: skip
TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("Bash", {"command": "rm -rf build && echo done"}),
    ("Write", {"file_path": "{project}/a.txt", "content": "naïve ✓ 行\n"}),
    ("Edit", {"file_path": "{project}/src/b.py", "old_string": "1", "new_string": "2"}),
    ("apply_patch", {"command": "*** Begin Patch\n*** Update File: a.txt\n@@\n-alpha\n+beta\n*** End Patch"}),
    ("Read", {"file_path": "{project}/a.txt"}),
    ("mcp__files__move", {"from": "a", "to": ["b", {"c": None}], "n": 1.5}),
    ("Strange Tool/é", {}),
    ("shell", {"command": ["bash", "-lc", "ls"], "timeout": 0}),
    ("Write", {"file_path": "{home}/.config/anyhook/config.toml", "content": "protect = false\n"}),
    ("Bash", {"command": "x" * 3000}),
]
"""Tools and inputs of different agents, including one that self-protection blocks and a long one."""

OPTIONS: dict[str, list[str]] = {
    "session_start": ["--source", "startup"],
    "session_end": ["--reason", "exit", "--data", '{"turns": 3, "duration_s": 1.5}'],
    "user_prompt_submit": ["--prompt", "please fix ✓"],
    "turn_start": ["--prompt", "go"],
    "turn_end": ["--data", '{"final_message": "done"}'],
    "step_end": ["--data", '{"turn_number": 2, "tools_used": ["bash"], "usage": {"input_tokens": 5}}'],
    "post_tool": ["--output", '{"stdout": "hi"}', "--call-id", "c1"],
    "post_tool_failure": ["--tool-error", "exit status 3", "--call-id", "c1"],
    "notification": ["--message", "waiting", "--data", '{"notification_type": "idle"}'],
    "subagent_start": ["--agent", "explorer", "--data", '{"task": "look"}'],
    "subagent_stop": ["--agent", "explorer", "--data", '{"result": "found"}'],
    "pre_compact": ["--trigger", "auto"],
    "post_compact": ["--trigger", "manual"],
    "stop": ["--data", '{"stop_reason": "done", "final_message": "bye", "messages": []}'],
}


def event_words(native: str, canonical: str, tool: str, given: dict[str, Any] | None = None) -> list[str]:
    words = [native]
    if "tool" in canonical or canonical == "permission_request":
        words += ["--tool", tool, "--input", json.dumps(given or {"command": "ls"}, ensure_ascii=False)]
    return [*words, *OPTIONS.get(canonical, []), "--session", "s"]


def case(scene: str, argv: list[str], dialects: list[str], **more: Any) -> Case:
    return {"scene": scene, "argv": argv, "dialects": dialects, **more}


def fired(tables: dict[str, Any], answers: list[str]) -> Iterator[Case]:
    """Each dialect alone: every answer before a tool, and its own and some other answers at every event."""
    for name in DIALECTS:
        others = cycle(["text", "cut-json", "exit-1", "crash", "unread-key", "special-context", "message", "exit-3"])
        for event in tables[name]["events"]:
            native = event["native"]
            for canonical in event["canonical"]:
                words = ["fire", *event_words(native, canonical, SHELL[name]), "--json"]
                chosen = answers_at(name, native, canonical, answers, next(others))
                for answer in chosen:
                    yield case(f"user-{name}", words, [name], behave={name: answer})


def answers_at(name: str, native: str, canonical: str, answers: list[str], other: str) -> list[str]:
    """Before a tool, every answer. At other events, some of the dialect's own answers and one other."""
    second_name = native in ("BeforeShellExecution", "BeforeReadFile") or (name == "copilot" and native[0].isupper())
    if second_name:
        return OWN[name][:2]
    if canonical == "pre_tool":
        return answers
    own = OWN[name]
    return [*own[:: 2 if canonical in ("post_tool", "stop", "user_prompt_submit") else 4], other]


def postured(tables: dict[str, Any]) -> Iterator[Case]:
    """Each dialect alone, before a tool: failure postures, trust, layers, matchers, shadow, list and explain."""
    for name in DIALECTS:
        pre = next(event["native"] for event in tables[name]["events"] if "pre_tool" in event["canonical"])
        words = ["fire", *event_words(pre, "pre_tool", SHELL[name]), "--json"]
        deny = {name: OWN[name][0]}
        for posture in ("deny", "allow"):
            for answer in ("exit-1", "exit-127", "crash", "cut-json", "text", "unread-key", "special-deny", "list"):
                yield case(f"user-{name}", [*words, "--on-failure", posture], [name], behave={name: answer})
        for posture in ("native", "deny", "allow"):
            yield case(f"missing-{name}", [*words, "--on-failure", posture], [name])
            yield case(f"unreadable-{name}", [*words, "--on-failure", posture], [name])
        for trust in ("ask", "all", "native", "none"):
            for scene in ("project", "both"):
                yield case(f"{scene}-{name}", [*words, "--trust", trust], [name], behave=deny)
        yield case(f"project-{name}", words, [name], behave=deny, before=[{"run": ["trust", "--yes"]}])
        yield case(f"user-{name}", [*words, "--mode", "shadow"], [name], behave=deny)
        yield case(f"user-{name}", words[:-1], [name], behave=deny)
        for tool, given in TOOLS[:7]:
            yield case(
                f"matcher-{name}", ["fire", *event_words(pre, "pre_tool", tool, given), "--json"], [name], behave=deny
            )
        for scene in ("both", "matcher", "missing", "unreadable"):
            yield case(f"{scene}-{name}", ["list", "--json"], [name])
        for event in tables[name]["events"][:5]:
            canonical = event["canonical"][0]
            words = ["explain", *event_words(event["native"], canonical, SHELL[name]), "--json"]
            yield case(f"user-{name}", words, [name])


def payloads(folder: Path) -> dict[str, str]:
    """The payloads that agents sent, by `HOST/EVENT…`, with placeholders for paths and sessions."""
    found = {}
    for path in sorted(folder.glob("*/*.json")):
        host = ALIASES.get(path.parent.name, path.parent.name)
        if host not in HOSTS or path.stem.startswith("_"):
            continue
        text = path.read_text(encoding="utf-8")
        for session in set(re.findall(r'"(?:session_id|sessionId|sessionID|taskId)": "([^"]+)"', text)):
            text = text.replace(session, "{session}")
        text = text.replace("/home/user/project", "{project}").replace("/home/user", "{home}")
        kind = "" if host == path.parent.name else f".{path.parent.name}"
        found[f"{host}/{path.stem}{kind}"] = json.dumps(json.loads(text), ensure_ascii=False)
    return found


def native_of(key: str) -> str:
    """The event's name, from a payload's name: `PreToolUse.Bash` and `tool.execute.before.bash` end in a tool."""
    host, _, stem = key.partition("/")
    if host == "opencode":
        found = re.match(r"tool\.execute\.(?:before|after)|event\.session\.\w+|chat\.message", stem)
        return found[0] if found else stem
    return stem.partition(".")[0]


def varied(stdin: dict[str, str]) -> dict[str, str]:
    """Tool-call payloads with other tools and inputs, and some invalid ones."""
    found = {}
    for host in HOSTS:
        keys = [key for key in stdin if key.startswith(f"{host}/") and re.search(r"pre_?tool|before", key, re.I)]
        keys = [key for key in keys if '"command' in stdin[key]]
        base = json.loads(stdin[keys[0]])
        for number, (tool, given) in enumerate(TOOLS):
            found[f"{host}/{native_of(keys[0])}.varied-{number}"] = json.dumps(
                retold(base, tool, given), ensure_ascii=False
            )
        found[f"{host}/{native_of(keys[0])}.empty"] = ""
        found[f"{host}/{native_of(keys[0])}.cut"] = stdin[keys[0]][:-20]
        found[f"{host}/{native_of(keys[0])}.list"] = "[1]"
        found[f"{host}/{native_of(keys[0])}.bare"] = "{}"
    return found


FIELDS = {
    "message": "waiting for you", "notification_type": "idle_prompt", "trigger": "auto", "reason": "other",
    "agent_type": "explorer", "agent_id": "a1", "source": "startup", "last_assistant_message": "done ✓",
    "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": {"stdout": "hi"}, "error": "exit status 3",
    "prompt": "go on", "custom_instructions": "", "stop_hook_active": False, "hook_event_name": "", "event": "",
    "agentType": "explorer", "toolName": "bash", "toolArgs": {"command": "ls"}, "stopReason": "end_turn",
}  # fmt: skip
"""Payload fields for events that were never recorded; an agent sends some of them."""


def unseen(stdin: dict[str, str], events: dict[str, list[str]]) -> dict[str, str]:
    """Payloads for a host's events that were never recorded, derived from one that was."""
    found = {}
    for host in HOSTS:
        base = json.loads(next(text for key, text in stdin.items() if key.startswith(f"{host}/")))
        known = {native_of(key) for key in stdin if key.startswith(f"{host}/")}
        for native in events[host]:
            if native not in known:
                made = {**base, **FIELDS, "hook_event_name": native, "event": native}
                found[f"{host}/{native}.made-up"] = json.dumps(made, ensure_ascii=False)
    return found


def retold(value: Any, tool: str, given: dict[str, Any]) -> Any:
    """The payload with another tool and input, in its own fields for them."""
    if not isinstance(value, dict):
        return value
    names = ("tool_name", "toolName", "matcher_context", "tool")
    inputs = ("tool_input", "toolArgs", "toolInput", "args", "parameters", "input")
    found: dict[str, Any] = {}
    for key, old in value.items():
        if (key in names and isinstance(old, str)) or (key == "name" and "input" in value):
            found[key] = tool
        elif key in inputs and isinstance(old, dict) and "tool" not in old:
            found[key] = given
        else:
            found[key] = retold(old, tool, given)
    return found


def bridged(stdin: dict[str, str], rounds: int = 0) -> Iterator[Case]:
    """Every payload of every host, each time with hooks of other dialects and another of their answers."""
    turn = cycle(DIALECTS)
    answers = {name: cycle(OWN[name]) for name in DIALECTS}
    postures = cycle([[], [], [], ["--on-failure", "deny"], [], ["--mode", "shadow"], [], ["--trust", "none"]])
    sent = Counter(key.partition("/")[0] for key in stdin)
    for key in stdin:
        host = key.partition("/")[0]
        argv = ["bridge", host, native_of(key)]
        special = bool(re.search(r"\.(varied-\d+|empty|cut|list|bare|made-up)$", key))
        for _ in range(rounds or max(3, -(-88 // sent[host]))):
            name = next(turn)
            yield case(
                f"user-{name}", [*argv, *next(postures)], [name], host=host, stdin=f"@{key}",
                behave={name: next(answers[name])},
            )  # fmt: skip
        next(turn)
        if not special and key.count(".") <= (2 if host == "opencode" else 0):
            yield case("all-user", argv, list(DIALECTS), host=host, stdin=f"@{key}")
            yield case("all-project", argv, list(DIALECTS), host=host, stdin=f"@{key}")


def mixed(stdin: dict[str, str]) -> Iterator[Case]:
    """Hooks of all dialects together, where one has an answer; settings, plugins, invalid calls."""
    everyone = list(DIALECTS)
    pre = ["fire", *event_words("pre_tool", "pre_tool", "Bash"), "--json"]
    for number, name in enumerate(DIALECTS):
        other = DIALECTS[(number + 3) % len(DIALECTS)]
        yield case("all-user", pre, everyone, behave={name: OWN[name][1]})
        yield case("all-user", [*pre, "--dialect", name, "--dialect", other], [name, other], behave={name: "exit-2"})
        yield case("all-user", pre, everyone, behave={name: OWN[name][2], other: "exit-2"})
        yield case("all-project", [*pre, "--trust", "all"], everyone, behave={name: OWN[name][-1]})
    for label in ("deny", "shadow", "off-deny", "unprotected", "odd"):
        scene = f"settings-{label}"
        yield case(scene, pre, everyone, behave={"claude": "special-deny", "kodik": "exit-1"})
        yield case(scene, ["list", "--json"], everyone)
        for host in HOSTS:
            key = next(key for key in stdin if key.startswith(f"{host}/") and key.endswith(".varied-8"))
            yield case(scene, ["bridge", host, native_of(key)], everyone, host=host, stdin=f"@{key}",
                       behave={"kolega": "exit-1"})  # fmt: skip
    for answer in ("exit-2", "modified-input", "context", "exit-1", "approve"):
        argv = [*pre, "--plugin-dir", "{plugin}", "--dialect", "kodik"]
        yield case("plugin", argv, ["kodik"], behave={"kodik": answer})
    for kind in KINDS:
        for native, canonical in (
            ("PreToolUse", "pre_tool"),
            ("Stop", "stop"),
            ("UserPromptSubmit", "user_prompt_submit"),
        ):
            for posture in ("native", "deny"):
                words = [
                    "fire",
                    *event_words(native, canonical, "Bash"),
                    "--trust",
                    "all",
                    "--on-failure",
                    posture,
                    "--json",
                ]
                yield case(f"kind-{kind}", words, [kind.partition("-")[0]])
    for off in ("claude:user:PreToolUse:h.sh", "kodik:user:PreToolUse:h.sh", "gemini:user:BeforeTool:h.sh"):
        yield case("all-user", pre, everyone, before=[{"run": ["disable", off]}], behave={"all": "silent"})
    for argv in (
        ["fire", "no_such_event", "--json"], ["fire", "pre_tool", "--input", "{", "--json"],
        ["fire", "pre_tool", "--nonsense"], ["list", "--json", "--project", "{project}/nowhere"],
        ["bridge", "nobody", "X"],
        ["bridge", "claude", "NoSuchEvent"], ["explain", "nothing", "--json"], ["fire", "pre_tool", "--mode", "loud"],
    ):  # fmt: skip
        yield case("empty", argv, [])
    for canonical in ("pre_tool", "permission_request", *OPTIONS):
        yield case("empty", ["fire", *event_words(canonical, canonical, "Bash"), "--json"], [])
        yield case("all-user", ["fire", *event_words(canonical, canonical, "Bash"), "--json"], everyone)
        yield case("all-user", ["explain", *event_words(canonical, canonical, "Bash"), "--json"], everyone)
