"""An unapproved clone cannot delay the user's own guard. Whatever it contains, the guard answers, and files that are
not read are reported. These tests do not measure time: a call that hangs runs into the test's timeout."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.documents.budget import LIMITS, NAMES
from conftest import World

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json

MB = 1_000_000
NARROWER = 20
CALL: dict[str, Json] = {
    "tool_name": "Bash",
    "tool_input": {"command": "rm -rf build"},
    "session_id": "s",
    "hook_event_name": "PreToolUse",
}


def padded(begin: str, line: str, end: str, size: int) -> str:
    return begin + line * ((size - len(begin) - len(end)) // len(line)) + end


def numbered(begin: str, line: str, end: str, size: int) -> str:
    count = (size - len(begin) - len(end)) // (len(line) + 6)
    return begin + "".join(line % number for number in range(count)) + end


def hook_folders(project: Path, number: int, size: int) -> None:
    fields = numbered(f"---\nname: h{number}\ntrigger: before_tool\n", "k%d: v\n", "---\n", size)
    write(project / f".agents/hooks/h{number}/HOOK.md", fields)


def sub_agents(project: Path, number: int, size: int) -> None:
    entry = "  - hooks:\n    - type: command\n      command: ./x\n"
    begin = "---\nname: x\nhooks:\n  PreToolUse:\n"
    write(project / f".claude/agents/h{number}.md", padded(begin, entry, "---\n", size))


def json_files(project: Path, number: int, size: int) -> None:
    entry = '{"type": "command", "bash": "./x"}, '
    end = '{"type": "command", "bash": "./x"}]}}'
    begin = '{"version": 1, "hooks": {"preToolUse": ['
    write(project / f".github/hooks/h{number}.json", padded(begin, entry, end, size))


def broken_json(project: Path, number: int, size: int) -> None:
    text = padded('{"version": 1, "hooks": {', '"a": [1, {"b": "c"}], ', "", size)
    write(project / f".github/hooks/h{number}.json", text)


def broken_yaml(project: Path, number: int, size: int) -> None:
    fields = numbered('---\nname: "\\d"\n', 'k%d: "\\w"\n', "x: [\n---\n", size)
    write(project / f".agents/hooks/h{number}/HOOK.md", fields)


def sparse_programs(project: Path, number: int, size: int) -> None:
    path = write(project / f".kodelet/hooks/h{number}", "#!/bin/sh\n", 0o755)
    os.truncate(path, 200 * size)


LARGE: dict[str, Callable[[Path, int, int], None]] = {
    "agenthooks": hook_folders,
    "claude": sub_agents,
    "copilot": json_files,
    "broken JSON": broken_json,
    "broken YAML": broken_yaml,
    "kodelet": sparse_programs,
}


def write(path: Path, text: str, mode: int = 0o644) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def guarded(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo not this >&2; exit 2")


def bridged(world: World, *words: str) -> tuple[Any, Any]:
    """Call the bridge. Returns the answer for the agent, and the decision in the journal."""
    done = world.command(
        "bridge", "claude", "PreToolUse", *words, stdin=json.dumps({**CALL, "cwd": str(world.project)})
    )
    assert "Traceback" not in done.stderr
    return json.loads(done.stdout or "{}").get("hookSpecificOutput"), world.journal()[-1]["decision"]


def codes(found: Any) -> list[str]:
    return [problem["code"] for problem in found["problems"]]


def refused(answer: Any) -> bool:
    return bool(answer) and answer["permissionDecision"] == "deny" and "not this" in answer["permissionDecisionReason"]


def test_a_large_clone_buys_no_time(world: World) -> None:
    guarded(world)
    for number in range(45):
        sub_agents(world.project, number, MB)
    answer, recorded = bridged(world)
    assert refused(answer)
    assert codes(recorded).count("project-too-large") == 1
    assert {hook["id"].split(":")[1] for hook in recorded["hooks"]} == {"user"}


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> int:
    """Divide every limit by this factor, so that small projects are too large."""
    for unit, limit in LIMITS.items():
        monkeypatch.setitem(LIMITS, unit, limit // NARROWER)
    return NARROWER


@pytest.mark.parametrize("kind", LARGE)
def test_every_kind_of_large_clone_is_bounded(world: World, kind: str, narrow: int) -> None:
    guarded(world)
    for number in range(45):
        LARGE[kind](world.project, number, MB // narrow)
    answer = world.engine().bridge("claude", "PreToolUse", {**CALL, "cwd": str(world.project)})
    assert refused(json.loads(answer.stdout)["hookSpecificOutput"])
    recorded = world.journal()[-1]["decision"]
    assert codes(recorded).count("project-too-large") == 1
    assert {hook["id"].split(":")[1] for hook in recorded["hooks"]} == {"user"}


def ordinary(world: World) -> None:
    """Write 3,000 hook files, 16 MB in total."""
    for number in range(3000):
        text = f"---\nname: h{number}\ndescription: A hook.\ntrigger: before_tool\nmatcher:\n  tool: Shell\n---\n"
        write(
            world.project / f".agents/hooks/h{number}/HOOK.md", padded(text, "What it is for, at length.\n", "", 5500)
        )
        write(world.project / f".agents/hooks/h{number}/scripts/run", "#!/bin/sh\nexit 0\n", 0o755)


def test_an_ordinary_project_is_read(world: World) -> None:
    """As the contract promises, it stays within the limits, both before and after its approval."""
    ordinary(world)
    before = world.engine()
    assert {hook.status for hook in before.catalog.hooks if hook.scope == "project"} == {"untrusted"}
    world.approve()
    after = world.engine()
    hooks = [hook for hook in after.catalog.hooks if hook.scope == "project"]
    assert ({hook.status for hook in hooks}, len(hooks)) == ({"armed"}, 3000)
    assert "project-too-large" not in {problem.code for problem in [*before.catalog.problems, *after.catalog.problems]}


def names(project: Path, count: int) -> None:
    folder = project / ".kodelet/hooks"
    folder.mkdir(parents=True)
    for number in range(count):
        os.symlink("/nowhere", folder / f"n{number}")


def test_a_folder_full_of_names(world: World) -> None:
    """The user's guard answers, and every verb names the folder."""
    guarded(world)
    world.hook("kodik", "PreToolUse", "exit 2", "project")
    world.approve()
    names(world.project, LIMITS[NAMES] + 1000)
    answer, recorded = bridged(world)
    assert refused(answer)
    (problem,) = [problem for problem in recorded["problems"] if problem["code"] == "project-too-large"]
    assert problem["where"] == str(world.project.resolve() / ".kodelet/hooks")
    for words, status in ((["list"], 0), (["check"], 1), (["trust", "--yes"], 1)):
        done = world.command(*words)
        assert (done.returncode, ".kodelet/hooks" in done.stdout + done.stderr) == (status, True), words
        assert "project-too-large" in done.stdout + done.stderr
    # What was approved before stays approved.
    assert len(json.loads(world.command("trust", "--list", "--json").stdout)["approvals"][0]["items"]) == 1


def settle() -> None:
    """Wait a moment: no plan is stored for files that just changed."""
    time.sleep(0.1)


def test_what_is_too_large_is_remembered_until_it_changes(world: World, narrow: int) -> None:
    """The next call reads the plan, not the files. Once the folder is fixed, the project's hooks are back."""
    from anyhook.state.plans import read_plan

    names(world.project, 41_000 // narrow)
    world.hook("kodik", "PreToolUse", "exit 2", "project")
    settle()
    assert [problem.code for problem in world.engine().catalog.problems] == ["project-too-large"]
    plan = read_plan(world.setup())
    assert plan is not None
    assert [values[0] for values in plan.problems] == ["project-too-large"]
    assert len(plan.stamps) < 1000
    for number in range(36_000 // narrow):
        os.unlink(world.project / f".kodelet/hooks/n{number}")
    engine = world.engine()
    assert "project-too-large" not in {problem.code for problem in engine.catalog.problems}
    assert [hook.status for hook in engine.catalog.hooks if hook.dialect == "kodik"] == ["untrusted"]


# -- files that would hang a reader


def pipe(path: Path) -> None:
    os.mkfifo(path, 0o755)


def plug(path: Path) -> None:
    listener = socket.socket(socket.AF_UNIX)
    here = os.getcwd()
    os.chdir(path.parent)  # a socket path has a short length limit
    try:
        listener.bind(path.name)
    finally:
        os.chdir(here)
        listener.close()
    path.chmod(0o755)


def sparse(path: Path) -> None:
    os.truncate(write(path, "", 0o755), 10_000 * MB)


ODD: dict[str, Callable[[Path], None]] = {
    "pipe": pipe,
    "socket": plug,
    "zeros": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "circle": lambda path: path.symlink_to(path.name),
    "kernel": lambda path: path.symlink_to("/proc/kmsg"),
    "sparse": sparse,
}
PLACES = (
    ".agents/hooks/it/HOOK.md", ".agents/hooks/it/scripts/run", ".kodelet/hooks/it", ".claude/settings.json",
    ".claude/agents/it.md", ".github/hooks/it.json", ".kode/config.yaml", ".kodik/hooks/hooks.toml",
    ".codex/config.toml", "guard.sh",
)  # fmt: skip


@pytest.mark.parametrize("odd", ODD)
def test_nothing_is_waited_for(world: World, odd: str) -> None:
    """With an odd file in every place at once, the user's guard answers, and no verb hangs."""
    guarded(world)
    world.hook("kodik", "PreToolUse", "./guard.sh", "project")
    for place in PLACES:
        path = world.project / place
        path.parent.mkdir(parents=True, exist_ok=True)
        ODD[odd](path)
    answer, _ = bridged(world)
    assert refused(answer)
    for words in (["list"], ["check"], ["trust", "--yes"], ["explain", "pre_tool", "--tool", "Bash"]):
        assert "Traceback" not in world.command(*words).stderr


@pytest.mark.parametrize("odd", [name for name in ODD if name not in ("sparse", "terminal")])
@pytest.mark.parametrize("first_line", [False, True])
def test_a_program_that_is_none(world: World, odd: str, first_line: bool) -> None:
    """A hook that names such a file is reported as broken. Finding the reason opens no file that could hang."""
    ODD[odd](world.project / "guard.sh")
    command = "./guard.sh"
    if first_line:
        write(world.project / "run.sh", f"#!{world.project}/guard.sh\n", 0o755)
        command = "./run.sh"
    path = world.home / "config/kode/config.yaml"
    world.declare(path, "tool_call_pre", {"exec": [command], "timeout_ms": 3000})
    found = world.fire("pre_tool", "--tool", "Bash", "--input", "{}")
    (hook,) = found["hooks"]
    assert hook["ending"] in ("not_started", "exited", None), hook
    assert found["verdict"] == "block"  # kode's rule for a program that does not start


def test_a_hook_that_reads_a_pipe_ends_at_its_limit(world: World) -> None:
    os.mkfifo(world.project / "guard.pipe")
    world.hook("kodik", "PreToolUse", f"bash {world.project}/guard.pipe", timeout=1)
    found = world.fire("pre_tool", "--tool", "Bash", "--input", "{}", "--on-failure", "deny")
    (hook,) = found["hooks"]
    assert (hook["ending"], found["verdict"]) == ("timed_out", "block")


# -- the watchdog


HANG = """
import sys, time
from anyhook.cli import bridge
from anyhook.tables.registry import host
table = host("claude")
row = table.row("PreToolUse").replace(limit_s=2.0)
bridge.named = lambda agent, native: (table, row)
real = bridge.read_plan
def read_plan(*words):
    time.sleep(600)
if sys.argv[1] == "load":
    bridge.read_plan = read_plan
sys.argv = ["anyhook", "bridge", "claude", "PreToolUse", *sys.argv[2:]]
from anyhook.entry import main
main()
"""


@pytest.mark.parametrize("where", ["load", "stdin"])
@pytest.mark.parametrize("posture", ["deny", "native"])
def test_an_agent_is_answered_before_it_gives_up(world: World, where: str, posture: str) -> None:
    """Whatever delays us, the configured posture decides within the entry's timeout, and the journal records it."""
    guarded(world)
    with subprocess.Popen(
        [sys.executable, "-c", HANG, where, "--on-failure", posture],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=world.env, cwd=world.project,
    ) as process:  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps({**CALL, "cwd": str(world.project)}).encode())
        process.stdin.flush()
        if where == "load":
            process.stdin.close()
        stdout = process.stdout.read()  # returns when the process ends, although its stdin may still be open
        assert process.wait(60) == 0
    answer = json.loads(stdout).get("hookSpecificOutput") if stdout else None
    assert (answer is not None and answer["permissionDecision"] == "deny") == (posture == "deny")
    (record,) = world.journal()
    assert codes(record["decision"]) == ["bridge-failed"]


def test_what_self_protection_refuses_is_refused_if_the_catalog_hangs(world: World) -> None:
    """It is asked when the catalog is there, so the watchdog asks it instead."""
    guarded(world)
    call = {**CALL, "tool_input": {"command": "rm -rf ~/config/anyhook"}, "cwd": str(world.project)}
    done = subprocess.run(
        [sys.executable, "-c", HANG.replace("limit_s=2.0", "limit_s=8.0"), "load", "--on-failure", "native"],
        input=json.dumps(call).encode(), capture_output=True, env=world.env, cwd=world.project, check=False, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", done


def test_a_hook_within_its_limit_is_not_cut_off(world: World) -> None:
    """The hook runs longer than the time limit for reading the project, and the watchdog waits for it."""
    world.hook("kodik", "PreToolUse", "sleep 1.2; echo not this >&2; exit 2")
    done = subprocess.run(
        [sys.executable, "-c", HANG.replace("limit_s=2.0", "limit_s=30.0"), "nowhere"],
        input=json.dumps({**CALL, "cwd": str(world.project)}).encode(), capture_output=True, env=world.env,
        cwd=world.project, check=False, timeout=240,
    )  # fmt: skip
    assert refused(json.loads(done.stdout)["hookSpecificOutput"])
