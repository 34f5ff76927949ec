"""An agent's environment cannot move the user's guards away: variables as a project's `.env` or an agent's settings set
them, through every agent's entry as it is installed; an installation whose Python does not start; limits of the
system."""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.engine.last_words import ALL_OFF
from anyhook.gates.diagnosis import LAUNCHER, _handlers, _listed
from anyhook.state.entry_places import places_to_fix
from anyhook.tables.registry import INSTALLABLE, VARIABLES, host, sample
from slices import mostly_slow
from warm_box import built

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conftest import World

RULE = '[[rule]]\nname = "never"\nwhen = "event pre_tool"\nbecause = "the guard holds"\n'
SAID = "the guard holds"
MOVING = [name for name in VARIABLES if name not in ("PATH", "ANYHOOK_MANAGED_DIR")]
PYTHON = ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONSAFEPATH", "PYTHONUSERBASE", "PYTHONPLATLIBDIR")
OTHERS = ("PATH", "ANYHOOK_RUN", "ANYHOOK_MANAGED_DIR", "ANYHOOK_AGENT", "TMPDIR", "XDG_DATA_HOME", "BASH_ENV")
HOSTILE = "import os\nos.write(1, b'moved')\nos._exit(0)\n"
LIMITS = {
    "FSIZE": (0, 4096), "NOFILE": (3, 6, 12), "NPROC": (0,), "AS": (20_000_000, 100_000_000), "CPU": (1,),
    "STACK": (65_536,), "DATA": (8_000_000,),
}  # fmt: skip


@pytest.fixture(scope="module")
def launcher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("bin"))


@pytest.fixture
def guarded(world: World) -> World:
    """A user with one rule and nothing in the environment but a home."""
    world.env = {"HOME": str(world.home), "PATH": world.env["PATH"], "XDG_RUNTIME_DIR": str(world.root)}
    world.write(world.home / ".config/anyhook/hooks.toml", RULE)
    clone = world.project / "clone"
    for name in ("sitecustomize.py", "usercustomize.py", "anyhook.py", "os.py"):
        world.write(clone / name, HOSTILE)
    world.write(clone / "anyhook/config.toml", 'mode = "shadow"\n')
    return world


def installed(world: World, launcher: Path, agent: str, *more: str) -> list[str]:
    """The words with which the agent's entry calls us before a tool runs."""
    words = [str(launcher), "install", agent, "--json", *more]
    done = subprocess.run(words, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    table = host(agent)
    assert table.entry is not None
    row = next(row for row in table.events if "pre_tool" in row.canonical)
    for path in json.loads(done.stdout)["changed"]:
        text = Path(path).read_text()
        if "const LAUNCHER" in text:
            places = re.findall(r"^const PLACES = (.*)$", text, re.MULTILINE)[0]
            return [*shlex.split(_listed(text, LAUNCHER)), "bridge", agent, row.native, *json.loads(places)]
        native = os.path.basename(path) if table.entry.style == "scripts" else ""
        for handler in _handlers(path, text, table, table.entry, native):
            if handler.event == row.native:
                return shlex.split(handler.command)
    raise AssertionError(f"{agent} has no entry for {row.native}")


def asked(world: World, words: list[str], env: Mapping[str, str], **more: Any) -> subprocess.CompletedProcess[str]:
    payload = json.dumps({**sample(words[words.index("bridge") + 1]).payload, "cwd": str(world.project)})
    return subprocess.run(
        words, input=payload, env=env, cwd=world.project, capture_output=True, text=True, check=False, **more
    )


def values(world: World) -> list[str]:
    clone = str(world.project / "clone")
    return [str(world.root / "elsewhere"), "/nonexistent/place", clone, "clone", ""]


@pytest.mark.parametrize("agent", mostly_slow(INSTALLABLE, 4))
def test_no_environment_moves_the_guards_of_an_entry(guarded: World, launcher: Path, agent: str) -> None:
    words = installed(guarded, launcher, agent)
    (guarded.root / "elsewhere").mkdir()
    clean = asked(guarded, words, {**guarded.env, "ANYHOOK_WARM": "off"})
    assert SAID in clean.stdout + clean.stderr, (words, clean)
    empty = asked(guarded, words, {"ANYHOOK_WARM": "off"})
    assert (empty.stdout, empty.stderr, empty.returncode) == (clean.stdout, clean.stderr, clean.returncode)
    # Every variable in every agent would take an hour: each agent gets another part of them.
    names = [*MOVING, *PYTHON, *OTHERS]
    cases = [(name, value) for name in names for value in values(guarded)]
    for name, value in cases[INSTALLABLE.index(agent) :: len(INSTALLABLE)]:
        env = {**guarded.env, "ANYHOOK_WARM": "off", name: value}
        done = asked(guarded, words, env)
        assert SAID in done.stdout + done.stderr, (name, value, done)
        assert done.returncode == clean.returncode


@pytest.mark.parametrize("value", mostly_slow(range(5), 4))
@pytest.mark.parametrize("name", [*MOVING, *PYTHON, *OTHERS])
def test_each_variable_is_without_effect_and_a_person_is_told(
    guarded: World, launcher: Path, name: str, value: int
) -> None:
    words = [str(launcher), "bridge", "claude", "SessionStart", *places_to_fix(guarded.env)]
    (guarded.root / "elsewhere").mkdir()
    given = values(guarded)[value]
    done = asked(guarded, words, {**guarded.env, "ANYHOOK_WARM": "off", name: given})
    told = json.loads(done.stdout or "{}").get("systemMessage", "")
    names_another = (name in MOVING and given) or (name == "ANYHOOK_MANAGED_DIR" and value in (2, 3))
    assert (f"{name}={given}" in told) == bool(names_another), done
    assert "OFF" not in told
    again = asked(guarded, [*words[:3], "PreToolUse", *words[4:]], {**guarded.env, "ANYHOOK_WARM": "off", name: given})
    assert SAID in again.stdout
    assert "systemMessage" not in again.stdout  # told once per session


def test_a_call_that_nothing_refuses_goes_on_with_another_home(guarded: World, launcher: Path) -> None:
    guarded.write(guarded.home / ".config/anyhook/hooks.toml", RULE.replace("event pre_tool", "runs rm"))
    words = [str(launcher), "bridge", "claude", "PreToolUse", *places_to_fix(guarded.env)]
    payload = {**sample("claude").payload, "cwd": str(guarded.project)}
    payload["tool_input"] = {"command": "date > b.txt; sort b.txt | tail; sort b.txt | tail"}
    env = {**guarded.env, "ANYHOOK_WARM": "off", "HOME": str(guarded.root / "elsewhere")}
    done = subprocess.run(
        words, input=json.dumps(payload), env=env, cwd=guarded.project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done
    assert "permissionDecision" not in done.stdout, done


def test_hooks_get_the_environment_as_the_agent_gives_it(guarded: World, launcher: Path) -> None:
    seen = guarded.root / "seen"
    script = guarded.write(guarded.home / "guard.sh", f"#!/bin/sh\nenv > {seen}\n", 0o755)
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": str(script)}]}]}}
    guarded.write(guarded.home / ".codex/hooks.json", json.dumps(settings))
    os.unlink(guarded.home / ".config/anyhook/hooks.toml")
    words = [str(launcher), "bridge", "claude", "PreToolUse", *places_to_fix(guarded.env)]
    env = {**guarded.env, "HOME": "/nonexistent", "CODEX_HOME": "/x", "PYTHONPATH": "/y", "PYTHONHOME": "/z"}
    for warm in ("off", "on"):
        asked(guarded, words, {**env, "ANYHOOK_WARM": warm})
        found = seen.read_text().splitlines()
        assert {f"{name}={value}" for name, value in env.items() if name != "PATH"} <= {*found}
        seen.unlink()
    subprocess.run([str(launcher), "warm", "--stop"], env=guarded.env, check=False, capture_output=True)


def test_an_environment_of_the_users_own_is_part_of_the_entry(guarded: World) -> None:
    other = str(guarded.root / "config")
    env = {**guarded.env, "XDG_CONFIG_HOME": other, "XDG_STATE_HOME": f"{guarded.home}/.local/state", "VIBE_HOME": "x"}
    assert places_to_fix(env) == ["--home", env["HOME"], "--place", f"XDG_CONFIG_HOME={other}"]
    assert places_to_fix({"HOME": ""}) == []


def test_an_entry_for_a_home_that_is_gone(guarded: World, launcher: Path) -> None:
    """Settings that were copied from another machine: the environment counts, and a person is told."""
    words = [str(launcher), "bridge", "claude", "PreToolUse", "--home", "/nonexistent/home"]
    done = asked(guarded, words, {**guarded.env, "ANYHOOK_WARM": "off"})
    assert SAID in done.stdout
    assert "anyhook install claude" in json.loads(done.stdout)["systemMessage"]


# -- an installation whose Python does not start


def broken(launcher: Path, folder: Path, how: str) -> Path:
    folder.mkdir()
    shutil.copy(launcher, folder / "anyhook")
    text = launcher.with_name("anyhook-python").read_text()
    half = "try:\n    sys.modules['anyhook.engine.bridge_failure'] = sys.modules['anyhook.engine.bridge'] = None\n"
    made = {
        "interpreter gone": text.replace(sys.executable, "/nonexistent/bin/python"),
        "package gone": text.replace("from anyhook.entry", "from anyhook_gone.entry"),
        "package half gone": text.replace("try:\n", half, 1),
        "python broken": f"#!{folder}/python\n",
        "script gone": "",
    }[how]
    (folder / "python").write_text("#!/bin/sh\necho 'Fatal Python error: init_fs_encoding' >&2\nexit 1\n")
    (folder / "python").chmod(0o755)
    if made:
        (folder / "anyhook-python").write_text(made)
        (folder / "anyhook-python").chmod(0o755)
    return folder / "anyhook"


HOW = ("interpreter gone", "package gone", "package half gone", "python broken", "script gone")


@pytest.mark.parametrize("agent", mostly_slow(INSTALLABLE, 4))
def test_a_launcher_without_python_answers_in_the_agents_words(guarded: World, launcher: Path, agent: str) -> None:
    """By default the person is told; a closed entry, and settings that say so, refuse."""
    words = installed(guarded, launcher, agent)
    at = words.index(str(launcher))
    row = next(row for row in host(agent).events if "pre_tool" in row.canonical)
    refuses = row.says["block"].status
    for number, how in enumerate(HOW):
        words[at] = str(broken(launcher, guarded.root / str(number), how))
        told = asked(guarded, words, guarded.env)
        assert told.returncode == 0, (how, told)
        assert ALL_OFF.partition(":")[2][:40] in told.stdout + told.stderr
        assert "Traceback" not in told.stderr
    guarded.write(guarded.home / ".config/anyhook/config.toml", 'off = "deny"\n')
    refused = asked(guarded, words, guarded.env)
    assert refused.returncode == refuses
    assert "nothing that hooks guard may happen" in refused.stdout + refused.stderr
    os.unlink(guarded.home / ".config/anyhook/config.toml")
    installed(guarded, launcher, agent, "--closed")
    closed = asked(guarded, words, guarded.env)
    assert closed.returncode == refuses
    assert "is closed" in closed.stdout + closed.stderr


def test_a_call_without_an_entry_is_refused_without_python(guarded: World, launcher: Path) -> None:
    """Nothing is written down for it."""
    gone = broken(launcher, guarded.root / "bin", "interpreter gone")
    done = asked(guarded, [str(gone), "bridge", "claude", "PreToolUse"], guarded.env)
    assert (done.returncode, done.stdout) == (2, "")
    assert "Install anyhook again" in done.stderr


# -- limits


@pytest.mark.parametrize("warm", ["off", "on"])
@pytest.mark.parametrize(("name", "limit"), [(name, limit) for name, some in LIMITS.items() for limit in some])
def test_no_limit_opens_a_gate(guarded: World, launcher: Path, name: str, limit: int, warm: str) -> None:
    words = installed(guarded, launcher, "claude")
    number = getattr(resource, f"RLIMIT_{name}")
    done = asked(
        guarded,
        words,
        {**guarded.env, "ANYHOOK_WARM": warm},
        preexec_fn=lambda: resource.setrlimit(number, (limit,) * 2),
    )
    assert done.returncode in (0, 2), done
    assert done.returncode == 2 or '"deny"' in done.stdout, done
    subprocess.run([str(launcher), "warm", "--stop"], env=guarded.env, check=False, capture_output=True)


def test_hooks_have_the_default_signals(guarded: World, launcher: Path) -> None:
    seen = guarded.root / "seen"
    line = f"grep SigIgn /proc/self/status > {seen}"
    guarded.write(
        guarded.home / ".config/anyhook/hooks.toml",
        f'[[rule]]\nname = "look"\nwhen = "event pre_tool"\nthen = "run"\nrun = "{line}"\n',
    )
    words = [str(launcher), "bridge", "claude", "PreToolUse", *places_to_fix(guarded.env)]
    asked(guarded, words, {**guarded.env, "ANYHOOK_WARM": "off"})
    ignored = int(seen.read_text().split()[1], 16)
    assert not ignored & (1 << 24 | 1 << 12)  # SIGXFSZ, SIGPIPE


def test_an_entry_of_the_version_before_works_and_is_named_in_a_hint(guarded: World, launcher: Path) -> None:
    words = installed(guarded, launcher, "claude")
    path = guarded.home / ".claude/settings.json"
    path.write_text(path.read_text().replace(" --home " + guarded.env["HOME"], ""))
    done = asked(guarded, words[:4], {**guarded.env, "ANYHOOK_WARM": "off"})
    assert SAID in done.stdout
    guarded.write(guarded.root / "bin/claude", "#!/bin/sh\necho 2.1.0\n", 0o755)
    guarded.env["PATH"] = f"{guarded.root}/bin:{guarded.env['PATH']}"
    for verb in ("status", "doctor"):
        run = [str(launcher), verb, "claude", "--json"]
        seen = subprocess.run(run, env=guarded.env, cwd=guarded.project, capture_output=True, text=True, check=False)
        assert "does not name its home" in seen.stdout, seen
        assert seen.returncode == 0


def status_of(world: World, launcher: Path, **env: str) -> tuple[int, dict[str, Any]]:
    words, given = [str(launcher), "status", "--json"], {**world.env, **env}
    done = subprocess.run(words, env=given, cwd=world.project, capture_output=True, text=True, check=False)
    return done.returncode, json.loads(done.stdout)


@pytest.mark.parametrize(
    ("agent", "moved"),
    [
        ("claude", "XDG_CONFIG_HOME"), ("claude", "XDG_STATE_HOME"), ("claude", "HOME"), ("cline", "XDG_CONFIG_HOME"),
        ("goose", "XDG_CONFIG_HOME"), ("opencode", "XDG_STATE_HOME"),
    ],
)  # fmt: skip
def test_status_judges_an_agent_by_the_places_of_its_entry(
    guarded: World, launcher: Path, agent: str, moved: str
) -> None:
    """One entry of each style, and variables that do not move the agent's own config; the guards that
    this shell sees are not those that the entry sees, and the reverse."""
    installed(guarded, launcher, agent)
    usual = status_of(guarded, launcher)
    assert usual[0] == 0
    assert usual[1]["agents"][agent]["state"] == "on"
    agents_files = {} if moved != "HOME" else {"CLAUDE_CONFIG_DIR": str(guarded.home / ".claude")}
    elsewhere = guarded.root / "elsewhere"
    status, told = status_of(guarded, launcher, **{moved: str(elsewhere)}, **agents_files)
    assert told["agents"][agent]["state"] == "on", "the entry refuses, whatever this shell names"
    assert str(guarded.home) in told["agents"][agent]["why"]
    assert (status, told["protected"]) == (0, True)
    rules = guarded.home / ".config/anyhook/hooks.toml"
    guarded.write(elsewhere / ("anyhook" if moved == "XDG_CONFIG_HOME" else ".config/anyhook") / "hooks.toml", RULE)
    rules.unlink()
    status, told = status_of(guarded, launcher, **{moved: str(elsewhere)}, **agents_files)
    assert told["agents"][agent]["state"] == "off"
    assert f"anyhook install {agent}" in told["agents"][agent]["why"]
    assert (status, told["protected"]) == (1, False)


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_a_fresh_entry_is_not_said_to_be_an_earlier_versions(world: World, agent: str) -> None:
    assert world.command("install", agent).returncode == 0
    for told in (world.command("status", agent), world.command("doctor", agent)):
        assert "earlier version" not in told.stdout + told.stderr
        assert "fixes other places" not in told.stdout + told.stderr
