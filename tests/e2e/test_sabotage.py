"""On, or says that it is off: whatever happens to a file that a guard depends on, the guard refuses, or `status` does
not say protected and the agent's user is told."""

from __future__ import annotations

import ctypes
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import anyhook
from anyhook.engine.bridge import named, read
from anyhook.tables.registry import INSTALLABLE, host
from conftest import World
from slices import mostly_slow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from anyhook.model.json_types import Json
    from warm_box import Door

AGENTS = {"claude": "PreToolUse", "codex": "PreToolUse", "gemini": "BeforeTool", "letta": "PreToolUse"}
"""Agents and their gate: two kinds of messages, one file of settings each, and one that only has stderr."""
FORCED = "git push --force"
MARKED = "echo the project forbids this"
SESSIONS = count()


def ask(world: World, agent: str, event: str, command: str, session: str, run: Callable[..., str]) -> str:
    payload = {
        "session_id": session,
        "cwd": str(world.project),
        "hook_event_name": event,
        "source": "startup",
        "tool_name": "run_shell_command" if agent == "gemini" else "Bash",
        "tool_input": {"command": command},
    }
    return run("bridge", agent, event, stdin=json.dumps(payload))


def plainly(world: World) -> Callable[..., str]:
    def run(*words: str, stdin: str = "") -> str:
        done = world.command(*words, stdin=stdin)
        assert "Traceback" not in done.stdout + done.stderr
        return f"{done.returncode} {done.stdout}{done.stderr}"

    return run


def is_refused(said: str) -> bool:
    return any(word in said for word in ("rewrites what others", "not here"))


def check(world: World, run: Callable[..., str], agents: tuple[str, ...] = tuple(AGENTS)) -> tuple[bool, bool]:
    """Whether it is said to be protected, and whether both guards refused in all agents; asserts that this is true."""
    told = json.loads(run("status", "--json").partition(" ")[2].partition("\n}")[0] + "\n}")
    all_refused = True
    for agent in agents:
        session = f"s{next(SESSIONS)}"
        start = ask(world, agent, "SessionStart", "", session, run)
        for command in (FORCED, MARKED):
            said = ask(world, agent, AGENTS[agent], command, session, run)
            refused = is_refused(said)
            all_refused = all_refused and refused
            assert refused or " OFF" in start + said, (agent, command, start, said)
            assert refused or not told["protected"], (agent, command, told)
    return told["protected"], all_refused


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> World:
    """A user's guards, a project's guard, and four agents that call us."""
    world = World(tmp_path_factory.mktemp("sabotage"))
    world.env["ANYHOOK_WARM"] = "off"
    world.config('[journal]\nbodies = "full"\n')
    world.hook("kodik", "PreToolUse", "! grep -q 'the project forbids' || { echo 'not here' >&2; exit 2; }", "project")
    assert " OFF" in ask(world, "claude", "PreToolUse", MARKED, "before", plainly(world)), "and that was told"
    for words in (("add", "guard", "--yes"), *(("install", agent) for agent in AGENTS), ("trust", "--yes")):
        done = world.command(*words)
        assert done.returncode == 0, done.stderr
    rules = world.home / "config/anyhook/hooks.toml"
    rules.write_text(rules.read_text() + '\n[[rule]]\nname = "mine"\nwhen = "runs mine"\n')
    assert check(world, plainly(world)) == (True, True), "before anything is damaged, both guards are on"
    (world.state / "firings").mkdir(exist_ok=True)
    shutil.copytree(world.root, kept_of(world), symlinks=True)
    return world


def kept_of(world: World) -> Path:
    """Where the world is as it was before anything was damaged. A worker that takes these tests from another one later
    builds a second world."""
    return world.root.with_name(f"{world.root.name}.kept")


@pytest.fixture
def sabotaged(guarded: World) -> Iterator[World]:
    yield guarded
    for path in (guarded.home, guarded.project):
        subprocess.run(["chmod", "-R", "u+rwx", str(path)], check=True)
        shutil.rmtree(path)
        shutil.copytree(kept_of(guarded) / path.name, path, symlinks=True)


FILES = {
    "settings": "home/config/anyhook/config.toml",
    "rules": "home/config/anyhook/hooks.toml",
    "folder of the rules": "home/config/anyhook",
    "approvals": "home/state/anyhook/trust.json",
    "what is on": "home/state/anyhook/switches.json",
    "where we are installed": "home/state/anyhook/installs/index.json",
    "plans": "home/state/anyhook/plans",
    "told": "home/state/anyhook/told",
    "journal": "home/state/anyhook/journal.jsonl",
    "firings": "home/state/anyhook/firings",
    "state": "home/state/anyhook",
    "base of the state": "home/state",
    "entry in claude": "home/.claude/settings.json",
    "entry in codex": "home/.codex/hooks.json",
    "folder of claude": "home/.claude",
    "project's hooks": "project/.kodik/hooks/hooks.json",
}


def delete(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def files_in(path: Path) -> list[Path]:
    return [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]


def empty(path: Path) -> None:
    for each in files_in(path):
        each.write_bytes(b"")


def cut(path: Path) -> None:
    for each in files_in(path):
        each.write_bytes(each.read_bytes()[: each.stat().st_size // 2])


def fill_with_noise(path: Path) -> None:
    for each in files_in(path):
        each.write_bytes(b"\x00\xff\xfe{[" * 20)


def replace_by_a_folder(path: Path) -> None:
    delete(path)
    path.mkdir()


def replace_by_a_file(path: Path) -> None:
    delete(path)
    path.write_text("")


def replace_by_a_pipe(path: Path) -> None:
    delete(path)
    os.mkfifo(path)


def replace_by_a_loop(path: Path) -> None:
    delete(path)
    path.symlink_to(path)


HOW = (
    delete,
    empty,
    cut,
    fill_with_noise,
    replace_by_a_folder,
    replace_by_a_file,
    replace_by_a_pipe,
    replace_by_a_loop,
)


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("how", mostly_slow(HOW, 3), ids=lambda how: how.__name__)
def test_every_file_in_every_way(sabotaged: World, name: str, how: Callable[[Path], None]) -> None:
    how(sabotaged.root / FILES[name])
    if "claude" not in name and "codex" not in name:
        check(sabotaged, plainly(sabotaged), ("claude", "letta"))
        return
    assert check(sabotaged, plainly(sabotaged), ("letta",)) == (False, True), "an agent does not call us any more"
    told = ask(sabotaged, "gemini", "SessionStart", "", f"s{next(SESSIONS)}", plainly(sabotaged))
    assert " OFF: " + name.rsplit(maxsplit=1)[-1] in told, "another agent says it"
    assert "status" in told


# -- what cannot be written or read


def without_powers() -> None:
    """In a new process: permissions count for root, too."""
    for power in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, power, 0, 0, 0)  # PR_CAPBSET_DROP


def started(world: World, *before: str) -> Callable[..., str]:
    """The command as a new process, by another program if one is given."""

    def run(*words: str, stdin: str = "") -> str:
        done = subprocess.run(
            [*before, sys.executable, "-m", "anyhook", *words],
            env=world.env, cwd=world.project, input=stdin, capture_output=True, text=True, check=False,
            preexec_fn=without_powers,
        )  # fmt: skip
        assert "Traceback" not in done.stdout + done.stderr
        return f"{done.returncode} {done.stdout}{done.stderr}"

    return run


FULL = ("/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
"""No file can grow, as on a full disk."""
MODES = {"cannot be written": "a-w", "cannot be read": "a-rwx"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "name", mostly_slow([name for name in FILES if not name.startswith(("entry", "folder of claude"))], 3)
)
def test_permissions(sabotaged: World, name: str, mode: str) -> None:
    subprocess.run(["chmod", "-R", MODES[mode], str(sabotaged.root / FILES[name])], check=True)
    check(sabotaged, started(sabotaged), ("claude", "letta"))


@pytest.mark.parametrize("disk", ["full", "read-only state", "no state"])
@pytest.mark.parametrize("agent", AGENTS)
def test_a_guard_that_is_off_is_told_without_a_memory(sabotaged: World, agent: str, disk: str) -> None:
    """Once for each session needs a memory. Without one it is told again, and never silently dropped."""
    hooks = sabotaged.project / ".kodik/hooks/hooks.json"
    hooks.write_text(hooks.read_text().replace("not here", "not any more"))
    run = started(sabotaged, *(FULL if disk == "full" else ()))
    if disk == "read-only state":
        subprocess.run(["chmod", "-R", "a-w", str(sabotaged.state)], check=True)
    elif disk == "no state":
        replace_by_a_file(sabotaged.state)
    if agent != "letta":  # it shows nothing when a session starts
        assert " OFF: " in ask(sabotaged, agent, "SessionStart", "", "quiet", run)
    assert " OFF: " in ask(sabotaged, agent, AGENTS[agent], MARKED, "quiet", run)
    assert " OFF: " in run("status", "--short")


def test_a_full_disk_leaves_the_guards_on(sabotaged: World) -> None:
    assert check(sabotaged, started(sabotaged, *FULL)) == (True, True)


def test_the_launcher_answers_where_files_cannot_grow(door: Door, world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    door.start()
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = subprocess.run(
        [*FULL, str(door.launcher), "bridge", "claude", "PreToolUse"],
        env=door.env, cwd=world.project, input=payload, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_what_others_print_while_python_starts_does_not_belong_to_the_answer(launcher: Path, world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    folder = world.root / "bin"
    shutil.copytree(launcher.parent, folder)
    script = folder / "anyhook-python"
    first, _, rest = script.read_text().partition("\n")
    script.write_text(f"{first}\nprint('soon')\nprint('now', flush=True)\n{rest}")
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = subprocess.run(
        [str(folder / "anyhook"), "bridge", "claude", "PreToolUse"],
        env={**world.env, "ANYHOOK_WARM": "off"}, cwd=world.project,
        input=payload, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert {"soon", "now"} <= {*done.stderr.split()}


def test_without_the_launcher_a_closed_stdout_refuses_too(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = subprocess.run(
        ["/bin/sh", "-c", 'exec "$0" -m anyhook bridge claude PreToolUse >&-', sys.executable],
        env={**world.env, "ANYHOOK_WARM": "off"}, cwd=world.project,
        input=payload, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "there is no stdout" in done.stderr


@pytest.mark.parametrize("closed", [1, 2])
def test_a_closed_stream_opens_no_gate_and_gets_no_second_answer(launcher: Path, world: World, closed: int) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    payload = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = subprocess.run(
        ["/bin/sh", "-c", f'exec "$0" bridge claude PreToolUse {closed}>&-', str(launcher)],
        env={**world.env, "ANYHOOK_WARM": "off"}, cwd=world.project,
        input=payload, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if closed == 1:
        assert done.returncode == 2
        assert "there is no stdout" in done.stderr
    else:
        assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert done.returncode == 0


def test_a_line_on_stderr_waits_for_a_call_that_can_show_it(sabotaged: World) -> None:
    """In an agent that only has stderr, a refusal uses it. What it could not show is told at the next call."""
    hooks = sabotaged.project / ".kodik/hooks/hooks.json"
    hooks.write_text(hooks.read_text().replace("not here", "not any more"))
    run = plainly(sabotaged)
    assert is_refused(ask(sabotaged, "junie", "PreToolUse", FORCED, "one", run))
    assert " OFF: " in ask(sabotaged, "junie", "PreToolUse", "ls", "one", run)
    assert " OFF: " not in ask(sabotaged, "junie", "PreToolUse", "ls -l", "one", run)


# -- the package itself


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package, to damage."""
    folder = tmp_path_factory.mktemp("lib")
    left_out = shutil.ignore_patterns("__pycache__", "*.json")
    shutil.copytree(Path(anyhook.__file__).parent, folder / "anyhook", ignore=left_out)
    return folder


@pytest.mark.parametrize("how", [delete, empty, cut, fill_with_noise], ids=lambda how: how.__name__)
@pytest.mark.parametrize("half", ["git", "[a-m]*", "*"])
def test_packs_of_the_package(sabotaged: World, package: Path, half: str, how: Callable[[Path], None]) -> None:
    packs = package / "anyhook/rules/packs"
    shutil.copytree(packs, package / "packs")
    try:
        for path in packs.glob(f"{half}.toml"):
            how(path)
        sabotaged.env["PYTHONPATH"] = str(package)
        protected, refused = check(sabotaged, started(sabotaged), ("claude",))
        assert not protected
        assert not refused, "nothing was damaged"
    finally:
        del sabotaged.env["PYTHONPATH"]
        shutil.rmtree(packs)
        (package / "packs").rename(packs)


def garble(path: Path) -> None:
    path.write_text("def (((\n")


def without_a_module(world: World, package: Path, name: str, how: Callable[[Path], None]) -> None:
    """Refused, or told with OFF, in Claude's own channel; and no traceback."""
    path = package / name
    kept = path.read_bytes()
    world.env["PYTHONPATH"], world.env["PYTHONDONTWRITEBYTECODE"] = str(package), "1"
    session = f"s{next(SESSIONS)}"
    try:
        how(path)
        said = [
            ask(world, "claude", event, FORCED, session, started(world)) for event in ("SessionStart", "PreToolUse")
        ]
    finally:
        path.write_bytes(kept)
        del world.env["PYTHONPATH"], world.env["PYTHONDONTWRITEBYTECODE"]
    is_told = any('"systemMessage"' in each and " OFF" in each for each in said)
    assert is_refused(said[1]) or '"deny"' in said[1] or said[1].startswith("2 ") or is_told, (name, how.__name__, said)


SOME = (
    "journal/journal.py",
    "platform/locks.py",
    "platform/places.py",
    "engine/walk.py",
    "rules/language.py",
    "agents/anyhook.py",
)


@pytest.mark.parametrize("how", [delete, garble], ids=lambda how: how.__name__)
@pytest.mark.parametrize("name", SOME)
def test_some_modules_of_the_package(sabotaged: World, package: Path, name: str, how: Callable[[Path], None]) -> None:
    without_a_module(sabotaged, package, f"anyhook/{name}", how)


TABLES = {"rules/language.py": FORCED, "agents/anyhook.py": FORCED, "agents/kodik.py": MARKED}
"""Modules without which a dialect has no table, and what its hooks refuse."""
READ_ALREADY = ("rules/language.py", "with a plan")
"""What a plan holds has been read, so its rules go on without the module that reads them."""


@pytest.mark.parametrize("plan", ["with a plan", "without a plan"])
@pytest.mark.parametrize("off", ["tell", "deny"])
@pytest.mark.parametrize("name", TABLES)
def test_a_dialect_without_its_table(sabotaged: World, package: Path, name: str, off: str, plan: str) -> None:
    """Its guards are off, whether a plan remembers them or not; so are those that a file may have. Or they are on."""
    sabotaged.config(f'off = "{off}"\n')
    run, session, path = started(sabotaged), f"s{next(SESSIONS)}", package / "anyhook" / name
    kept = path.read_bytes()
    sabotaged.env["PYTHONPATH"], sabotaged.env["PYTHONDONTWRITEBYTECODE"] = str(package), "1"
    time.sleep(0.1)  # a plan of settings that have just changed is not kept
    try:
        assert '"deny"' in ask(sabotaged, "claude", "PreToolUse", TABLES[name], session, run)
        garble(path)
        if plan == "without a plan":
            shutil.rmtree(sabotaged.state / "plans")
        first = ask(sabotaged, "claude", "PreToolUse", TABLES[name], f"{session}-no-start", run)
        start = ask(sabotaged, "claude", "SessionStart", "", f"{session}-start", run)
        told = json.loads(run("status", "--json").partition(" ")[2])
    finally:
        path.write_bytes(kept)
        del sabotaged.env["PYTHONPATH"], sabotaged.env["PYTHONDONTWRITEBYTECODE"]
    assert told["protected"] == ((name, plan) == READ_ALREADY)
    if off == "deny" or told["protected"]:
        assert '"deny"' in first
    else:
        assert '"systemMessage"' in first
        assert " OFF: " in first
        assert " OFF: " in start


@pytest.mark.parametrize("off", ["tell", "deny"])
@pytest.mark.parametrize("name", ["engine/walk.py", "engine/rules.py"])
def test_a_step_that_cannot_be_loaded_turns_guards_off(sabotaged: World, package: Path, name: str, off: str) -> None:
    sabotaged.config(f'off = "{off}"\n')
    path = package / "anyhook" / name
    kept = path.read_bytes()
    sabotaged.env["PYTHONPATH"], sabotaged.env["PYTHONDONTWRITEBYTECODE"] = str(package), "1"
    try:
        garble(path)
        said = ask(sabotaged, "claude", "PreToolUse", "ls", f"s{next(SESSIONS)}", started(sabotaged))
    finally:
        path.write_bytes(kept)
        del sabotaged.env["PYTHONPATH"], sabotaged.env["PYTHONDONTWRITEBYTECODE"]
    assert " OFF" in said
    assert ('"deny"' in said) is (off == "deny")


def test_a_broken_package_that_is_repaired_is_not_remembered_as_broken(sabotaged: World, package: Path) -> None:
    sabotaged.env["PYTHONPATH"] = str(package)
    language, aside = package / "anyhook/rules/language.py", package / "aside"
    try:
        language.rename(aside)
        check(sabotaged, started(sabotaged), ("claude",))
        aside.rename(language)
        assert check(sabotaged, started(sabotaged), ("claude",)) == (True, True)
    finally:
        del sabotaged.env["PYTHONPATH"]


# -- what was turned on, and how it is turned off


def gates(world: World, *words: str) -> dict[str, dict[str, Any]]:
    """The gates that do not hold, by the name of their file or their id."""
    found = json.loads(world.command("status", *words, "--json").stdout)
    off = {gate["id"].rpartition("/")[2]: gate for gate in found["gates"] if gate["state"] != "armed"}
    assert found["protected"] is (not off and bool(found["gates"]))
    return off


def is_silent(world: World) -> bool:
    session = f"s{next(SESSIONS)}"
    said = [ask(world, "claude", event, "ls", session, plainly(world)) for event in ("SessionStart", "PreToolUse")]
    return said == ["0 ", "0 "]


def test_a_pack_that_is_gone_from_use_is_said_until_a_verb_confirms_it(sabotaged: World) -> None:
    rules = sabotaged.home / "config/anyhook/hooks.toml"
    text = rules.read_text()
    rules.write_text(text.replace('"git", ', ""))
    gate = gates(sabotaged)["hooks.toml"]
    assert gate["state"] == "broken"
    assert "git" in gate["why"]
    assert "anyhook add git" in gate["fix"]
    assert "anyhook remove git" in gate["fix"]
    assert not is_silent(sabotaged)
    rules.write_text(text)
    assert (gates(sabotaged), is_silent(sabotaged)) == ({}, True), "it is back"
    rules.write_text(text.replace('"git", ', ""))
    assert sabotaged.command("remove", "git").returncode == 0
    assert (gates(sabotaged), is_silent(sabotaged)) == ({}, True)
    assert sabotaged.command("remove", "git").returncode == 1, "it was not on"


def test_the_advice_for_a_file_that_is_gone_works(sabotaged: World) -> None:
    rules = sabotaged.home / "config/anyhook/hooks.toml"
    rules.unlink()
    gate = gates(sabotaged)["hooks.toml"]
    assert "its own rules" in gate["why"]
    assert sabotaged.command("add", "guard", "--yes").returncode == 0
    assert "git" not in gates(sabotaged)["hooks.toml"]["why"], "the packs are on again"
    assert "anyhook remove hooks.toml" in gates(sabotaged)["hooks.toml"]["fix"]
    assert sabotaged.command("remove", "hooks.toml").returncode == 0
    assert (gates(sabotaged), is_silent(sabotaged)) == ({}, True)


def test_off_deny_closes_what_is_gone(sabotaged: World) -> None:
    sabotaged.config('off = "deny"\n')
    assert sabotaged.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')["verdict"] == "none"
    (sabotaged.home / "config/anyhook/hooks.toml").unlink()
    refused = sabotaged.fire("pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert refused["verdict"] == "block"
    assert "turned on here is gone" in refused["reason"]


@pytest.mark.parametrize("verbs", [
    [("remove", "guard"), ("remove", "hooks.toml")],
    [("remove", "files"), ("remove", "git")],
    [("disable", "anyhook:user:git:pre_tool:forced-push")],
    [("uninstall", "claude")],
    [("uninstall", "codex"), ("uninstall", "claude"), ("uninstall", "gemini"), ("uninstall", "letta")],
])  # fmt: skip
def test_what_our_verbs_turn_off_is_not_missed(sabotaged: World, verbs: list[tuple[str, ...]]) -> None:
    rules = sabotaged.home / "config/anyhook/hooks.toml"
    if ("remove", "hooks.toml") in verbs:
        rules.write_text(rules.read_text().partition('[[rule]]\nname = "mine"')[0])
    for words in verbs:
        done = sabotaged.command(*words)
        assert done.returncode == 0, done.stderr
    assert {key: gate for key, gate in gates_of_all(sabotaged).items() if gate["state"] != "disabled"} == {}
    assert is_silent(sabotaged)


def gates_of_all(world: World, *words: str) -> dict[str, dict[str, Any]]:
    found = json.loads(world.command("status", *words, "--json").stdout)
    return {gate["id"]: gate for gate in found["gates"] if gate["state"] != "armed"}


def test_rules_that_are_read_from_elsewhere_are_missed(sabotaged: World) -> None:
    """A variable that leads to other settings takes the user's guards from this shell, and not from agents: their
    entries fix their own places."""
    elsewhere = sabotaged.root / "elsewhere"
    elsewhere.mkdir(exist_ok=True)
    before = sabotaged.env["XDG_CONFIG_HOME"]
    try:
        sabotaged.env["XDG_CONFIG_HOME"] = str(elsewhere)
        found = json.loads(sabotaged.command("status", "--json").stdout)
        assert {gate["state"] for gate in found["gates"]} == {"armed"}
        assert (found["protected"], found["problems"]) == (True, [])
        assert before in found["agents"]["claude"]["why"]
        fired = sabotaged.command("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")
        assert [str(elsewhere) in each["what"] for each in json.loads(fired.stdout)["problems"]] == [True]
        written = json.loads((sabotaged.home / ".claude/settings.json").read_text())
        entry = shlex.split(written["hooks"]["PreToolUse"][0]["hooks"][0]["command"])
        entry = entry[entry.index("PreToolUse") + 1 :]

        def run(*words: str, stdin: str = "") -> str:
            return started(sabotaged)(*words, *(entry if words[0] == "bridge" else ()), stdin=stdin)

        assert check(sabotaged, run, ("claude",)) == (True, True)
    finally:
        sabotaged.env["XDG_CONFIG_HOME"] = before


def test_a_memory_that_cannot_be_read_is_said(sabotaged: World) -> None:
    for name, code in (("switches.json", "switches-damaged"), ("installs/index.json", "installs-damaged")):
        path = sabotaged.state / name
        before = path.read_bytes()
        path.write_bytes(b"{")
        gate = gates(sabotaged)[path.name]
        assert (gate["state"], gate["source"]) == ("unreadable", str(path))
        problems = json.loads(sabotaged.command("status", "--json").stdout)["problems"]
        assert code in [problem["code"] for problem in problems]
        assert not is_silent(sabotaged)
        path.unlink()
        assert (gates(sabotaged), is_silent(sabotaged)) == ({}, True), "as the advice says"
        path.write_bytes(before)


def test_a_package_of_the_user_is_missed(world: World) -> None:
    source = world.root / "team"
    world.write(source / "rules.toml", '[[rule]]\nname = "no release"\nwhen = "runs release"\n')
    world.write(source / ".kodik/hooks/hooks.json", json.dumps(
        {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}
    ))  # fmt: skip
    assert world.command("add", str(source), "--yes").returncode == 0
    assert gates(world) == {}
    folder = world.home / "config/anyhook"
    kept = world.root / "kept"
    shutil.copytree(folder, kept)
    for lost in ("anyhook.lock", "packages", "packages/team/.kodik/hooks/hooks.json", "packages/team/rules.toml"):
        delete(folder / lost)
        assert {gate["state"] for gate in gates(world).values()} & {"broken", "changed", "unreadable"}, lost
        shutil.rmtree(folder)
        shutil.copytree(kept, folder)
    assert gates(world) == {}
    (folder / "anyhook.lock").unlink()
    assert world.command("remove", "team").returncode == 0
    assert {gate["state"] for gate in gates_of_all(world).values()} <= {"waiting"}


# -- entries


def shortened(world: World, agent: str, seconds: float) -> None:
    """Somebody gives an agent's entry another limit, wherever it is in its file."""
    done = world.command("install", agent, "--json")
    table = host(agent)
    assert table.entry is not None
    for name in {*json.loads(done.stdout)["changed"], *json.loads(done.stdout)["unchanged"]}:
        path, text = Path(name), Path(name).read_text()
        limits = sorted({row.limit_s for row in table.events if row.installed}, reverse=True)
        for limit in limits:
            for before, after in ((int(limit * 1000), int(seconds * 1000)), (int(limit), seconds)):
                text = re.sub(rf"([:=] ){before}\b", rf"\g<1>{after:g}", text)
        path.write_text(text)


LIMITED = [
    name
    for name in INSTALLABLE
    if (entry := host(name).entry) is not None and entry.style != "scripts"
    and (entry.style == "module" or "{seconds}" in str(entry.handler) or "{milliseconds}" in str(entry.handler))
]  # fmt: skip


@pytest.mark.parametrize("agent", mostly_slow(LIMITED, 4))
def test_an_entry_that_does_not_wait_for_its_hooks(world: World, agent: str) -> None:
    def broken(*words: str) -> list[tuple[str, str]]:
        off = gates_of_all(world, *words).values()
        return [(gate["why"], gate["fix"]) for gate in off if gate["state"] == "broken"]

    world.hook("kodik", "PreToolUse", "exit 0", timeout=30)
    assert world.command("install", agent).returncode == 0
    assert (broken(agent), broken()) == ([], [])
    shortened(world, agent, 3)
    for off in (broken(), broken(agent)) if agent != "kodik" else (broken(),):  # it runs its own hooks itself
        ((why, fix),) = off
        assert ("3 s" in why, fix) == (True, f"anyhook install {agent}")
    assert world.command("install", agent).returncode == 0
    assert (broken(agent), broken()) == ([], []), "as the advice says"


def test_rules_hold_in_an_entry_with_a_short_limit(world: World) -> None:
    assert world.command("add", "git", "--yes").returncode == 0
    assert world.command("install", "claude").returncode == 0
    shortened(world, "claude", 3)
    assert gates(world, "claude") == {}
    shortened(world, "claude", 1)
    assert {gate["state"] for gate in gates(world, "claude").values()} == {"broken"}


def test_a_hook_that_the_entry_cuts_short_is_not_silent(world: World) -> None:
    """The agent would kill us and go on. So the hook ends first, and the answer says so."""
    world.hook("kodik", "PreToolUse", "sleep 20", timeout=30)
    assert world.command("install", "claude").returncode == 0
    shortened(world, "claude", 2)
    assert " OFF" in ask(world, "claude", "SessionStart", "", "one", plainly(world))
    said = ask(world, "claude", "PreToolUse", "ls", "two", plainly(world))
    assert " OFF" in said
    (called,) = world.journal()[-1]["calls"]
    assert called["run"]["ending"] == "timed_out"
    assert called["limit_s"] < 2
    world.config('off = "deny"\n')
    said = ask(world, "claude", "PreToolUse", "ls", "three", plainly(world))
    assert '"deny"' in said
    assert "anyhook" in said


def test_a_guard_for_which_the_agent_has_no_time_is_told(world: World) -> None:
    """The agent's own limit is shorter than the hook's."""
    world.hook("kodik", "PreToolUse", "sleep 20", timeout=30)
    engine = world.engine()
    table, row = named("claude", "PreToolUse")
    payload: dict[str, Json] = {"session_id": "one", "tool_name": "Bash", "tool_input": {"command": "ls"}}
    incoming = read(table, row.replace(limit_s=1.5), payload, time.monotonic(), world.env)
    said = engine.bridge("claude", "PreToolUse", incoming).stdout
    assert " OFF: sleep: it was ended after " in said
    assert "its own limit is 30 s" in said
    strict, again = world.engine(on_failure="deny"), incoming.replace(begun_s=time.monotonic())
    assert '"deny"' in strict.bridge("claude", "PreToolUse", again).stdout


def test_an_entry_of_another_project_is_not_missed(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    other = world.root / "other"
    other.mkdir()
    assert world.command("install", "claude", "--scope", "project", "--project", str(other)).returncode == 0
    assert gates(world) == {}
    shutil.rmtree(other)
    assert gates(world) == {}
    assert world.command("install", "claude", "--scope", "project").returncode == 0
    assert gates(world) == {}
    (world.project / ".claude/settings.json").unlink()
    assert gates(world)["settings.json"]["state"] == "broken"
    assert world.command("uninstall", "claude", "--scope", "project").returncode == 0
    assert gates(world) == {}


@pytest.mark.parametrize("agent", mostly_slow(INSTALLABLE, 4))
def test_an_entry_that_another_tool_removes(world: World, agent: str) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    done = world.command("install", agent, "--json")
    assert done.returncode == 0
    before = gates_of_all(world)
    for path in json.loads(done.stdout)["changed"]:
        Path(path).unlink()
    missed = [gate for key, gate in gates_of_all(world).items() if key not in before]
    assert {(gate["state"], gate["fix"]) for gate in missed} == {("broken", f"anyhook install {agent}")}
    assert json.loads(world.command("status", "--json").stdout)["agents"][agent]["state"] == "off"
    others = "claude" if agent != "claude" else "codex"
    assert {gate["state"] for gate in gates(world, others).values()} <= {"native"}, "it is nothing to other agents"
    assert world.command("uninstall", agent).returncode == 0
    assert gates_of_all(world) == before


@pytest.mark.parametrize("kept", [None, "{}", '{"on": 3}', '{"on": {"x": 3}}', '{"/p": 3}', "[]"])
def test_what_was_on_is_remembered_in_a_second_place(world: World, kept: str | None) -> None:
    assert world.command("add", "guard", "--yes").returncode == 0
    assert world.command("status").returncode == 0
    [rules] = [path for path in world.root.rglob("hooks.toml") if "anyhook" in path.parts]
    [memory] = world.root.rglob("switches.json")
    rules.unlink()
    memory.unlink()
    if kept is not None:
        memory.write_text(kept)
    done = world.command("status")
    assert done.returncode == 1
    assert "OFF" in done.stdout
    if kept is not None and kept != "{}":
        assert "unreadable" in done.stdout
        return
    assert "what was turned on here is gone" in done.stdout
    assert world.command("remove", "guard").returncode == 0
    assert "OFF" not in world.command("status").stdout, "a person said that it should be off"
