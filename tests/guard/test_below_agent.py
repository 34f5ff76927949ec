"""Verbs that weaken protection, called from below an agent: refused, whatever the line was that started them. From
anywhere else they work as ever."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook.guard import below_agent
from anyhook.guard.below_agent import agent_above
from anyhook.guard.own_programs import DECIDING
from anyhook.platform.other_programs import ProgramAnswer
from anyhook.tables.registry import HOSTS, host, special
from command import SCRIPT

if TYPE_CHECKING:
    from conftest import World

WEAKENING = [
    ["disable", "git/forced-push"], ["shadow", "git/forced-push"], ["remove", "guard"], ["uninstall", "claude"],
    ["trust", "--yes"], ["trust", "--from", "approved.json"], ["trust", "--export", "approved.json"],
    ["trust", "--revoke"], ["allow-once"], ["relax", "git/forced-push", "--off"],
    ["add", "./package", "--yes"], ["approvals", "allow", "3f9c2a10"], ["approvals", "deny", "3f9c2a10"],
    ["policy", "pull", "./policy"], ["policy", "remove", "acme"], ["ship", "--to", "./fleet", "--once"], ["update"],
]  # fmt: skip
OTHERS = [
    ["add", "guard", "--yes"], ["enforce", "git/forced-push"], ["enable", "git/forced-push"], ["trust", "--list"],
    ["status"], ["uninstall", "claude", "--dry-run"], ["list"], ["trust", "--help"], ["approvals"],
    ["policy"],
]  # fmt: skip
FOR_PEOPLE = "is for people"
PROGRAMS = sorted({host(name).program for name in HOSTS if host(name).program and not special(name, "HAS_TERMINALS")})
MARKS = sorted({mark for name in HOSTS for mark in host(name).marks} | {*below_agent.MARKS})


@pytest.fixture
def guarded(world: World) -> World:
    """A user with all guards on, and a package that nobody has added."""
    assert world.command("add", "guard", "--yes").returncode == 0
    world.write(world.project / "package/hooks.toml", '[[rule]]\nname = "a"\nwhen = "runs x"\nthen = "deny"\n')
    return world


def fake_agent(world: World, name: str) -> str:
    """A program with an agent's name that runs its arguments, as an agent runs a tool call."""
    folder = world.root / "agents"
    folder.mkdir(exist_ok=True)
    path = folder / name
    if not path.exists():
        shutil.copy(os.path.realpath(shutil.which("bash") or "/bin/bash"), path)
    return str(path)


def below(world: World, agent: str, line: str, **env: str) -> subprocess.CompletedProcess[str]:
    """A line in the shell of an agent."""
    folders = f"{Path(SCRIPT).parent}:{world.env['PATH']}"
    argv = [fake_agent(world, agent), "-c", f"{line}; exit $?"]
    return subprocess.run(
        argv, env={**world.env, "PATH": folders, **env}, cwd=world.project, capture_output=True, text=True, check=False,
        timeout=240,
    )  # fmt: skip


@pytest.mark.parametrize("words", WEAKENING, ids=" ".join)
def test_a_weakening_verb(guarded: World, words: list[str]) -> None:
    before = guarded.command("list", "--json").stdout
    done = below(guarded, "claude", f"{sys.executable} -m anyhook {' '.join(words)}")
    assert done.returncode == 3
    if words != ["allow-once"]:  # there it is already the missing terminal
        assert FOR_PEOPLE in done.stderr
        assert "in your terminal" in done.stderr
    assert guarded.command("list", "--json").stdout == before


@pytest.mark.parametrize("words", OTHERS, ids=" ".join)
def test_any_other_verb(guarded: World, words: list[str]) -> None:
    assert FOR_PEOPLE not in below(guarded, "claude", f"{sys.executable} -m anyhook {' '.join(words)}").stderr


@pytest.mark.parametrize("words", WEAKENING, ids=" ".join)
def test_without_an_agent_above(guarded: World, words: list[str]) -> None:
    """A plain subprocess without a terminal, as in a script of a person."""
    assert FOR_PEOPLE not in guarded.command(*words).stderr


@pytest.mark.parametrize(
    "line",
    [
        "anyhook disable git/forced-push", "anyhook-python disable git/forced-push", "sh ./off.sh", "make off",
        "env -i PATH=$PATH HOME=$HOME XDG_STATE_HOME=$XDG_STATE_HOME XDG_CONFIG_HOME=$XDG_CONFIG_HOME anyhook disable "
        "git/forced-push",
        "setsid anyhook disable git/forced-push", "nohup sh -c 'anyhook disable git/forced-push'",
        "python3 off.py", "find . -name off.sh -exec sh {} \\;", "echo git/forced-push | xargs anyhook disable",
        "cp $(command -v anyhook) ./other; ./other disable git/forced-push",
        "cp $(command -v anyhook-python) ./other; ./other disable git/forced-push",
        "ln -s $(command -v anyhook) ./other; ./other disable git/forced-push",
        "PY=python3; ${PY:-python3} -m anyhook disable git/forced-push", "BASH_ENV=./off.sh bash -c true",
        "xargs -a off.sh -I{} sh -c {}",
        "while read l; do $l; done < off.sh", "printf 'off: ; anyhook disable git/forced-push' > mk; make -f mk off",
        "python3 -c \"exec(open('off.py').read())\"", "env -u CLAUDECODE setsid -w sh off.sh",
    ],
)  # fmt: skip
def test_by_any_road(guarded: World, line: str) -> None:
    """However it is started, it finds the agent above."""
    python = guarded.root / "bin"
    python.mkdir()
    (python / "python3").symlink_to(sys.executable)
    for name in ("anyhook", "anyhook-python"):
        guarded.write(python / name, f'#!/bin/sh\nexec {sys.executable} -m anyhook "$@"\n', 0o755)
    guarded.write(guarded.project / "off.sh", "anyhook disable git/forced-push\n")
    guarded.write(guarded.project / "makefile", "off:\n\tanyhook disable git/forced-push\n")
    guarded.write(
        guarded.project / "off.py",
        "import sys\nfrom anyhook import entry\nsys.argv = ['anyhook', 'disable', 'git/forced-push']\nentry.main()\n",
    )
    guarded.env["PATH"] = f"{python}:{guarded.env['PATH']}"
    argv = [fake_agent(guarded, "claude"), "-c", f"{line}; exit $?"]
    subprocess.run(argv, env=guarded.env, cwd=guarded.project, capture_output=True, check=False, timeout=240)
    listed = guarded.command("list", "--json").stdout
    assert '"disabled"' not in listed


LET_GO = "(env -i {env} setsid sh -c '{line} > done.txt 2>&1; echo $? >> done.txt' < /dev/null > /dev/null 2>&1 &)"
IS_DONE = "until test -s done.txt && tail -1 done.txt | grep -qx '[0-9]'; do sleep 0.05; done"


@pytest.mark.parametrize("elsewhere", ["", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"])
def test_let_go_by_a_running_agent(guarded: World, elsewhere: str) -> None:
    """A grandchild without an environment, whose parents are gone: refused while the agent runs."""
    kept = {name: guarded.env[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME")}
    kept |= {elsewhere: str(guarded.root / "elsewhere")} if elsewhere else {}
    env = " ".join(f"{name}={value}" for name, value in kept.items())
    started = LET_GO.format(env=env, line=f"{sys.executable} -m anyhook remove guard")
    below(guarded, "claude", f"{started}; {IS_DONE}")
    said = (guarded.project / "done.txt").read_text()
    assert said.endswith("\n3\n")
    assert "Claude Code is running" in said


def test_let_go_by_another_program(guarded: World) -> None:
    """A script of a person, in the background, beside an agent that works for somebody else."""
    env = " ".join(f"{name}={value}" for name, value in guarded.env.items())
    started = LET_GO.format(env=env, line=f"{sys.executable} -m anyhook remove guard")
    with subprocess.Popen(
        [fake_agent(guarded, "claude"), "-c", "read x"], stdin=subprocess.PIPE, env={"HOME": "/x"}
    ) as it:
        below(guarded, "some-shell", f"{started}; {IS_DONE}")
        it.communicate(b"\n")
    assert FOR_PEOPLE not in (guarded.project / "done.txt").read_text()


def test_a_page_below_an_agent_takes_no_answer(world: World) -> None:
    """`serve` starts there, and what it starts with says that nobody can answer on it."""
    lines = [
        "import sys; from anyhook import entry; from anyhook.cli.web import server",
        "server.serve = lambda *given: print(f'closed: {given[4]}')",
        "sys.argv = ['anyhook', 'serve']; entry.main()",
    ]
    page = world.write(world.root / "page.py", "\n".join(lines))
    assert "closed: Nobody can answer here" in below(world, "claude", f"{sys.executable} {page}").stdout
    assert "closed: \n" in below(world, "some-shell", f"{sys.executable} {page}").stdout


def test_every_verb_that_agents_may_not_run_is_here() -> None:
    """Those that only add protection are free; a page that an agent started takes no answer."""
    free = {"install", "enable", "enforce", "setup", "warm", "import", "serve", "new"}
    assert {words[0] for words in WEAKENING} == DECIDING - free


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_agent_of_the_tables(world: World, program: str) -> None:
    code = "import os; from anyhook.guard.below_agent import agent_above; print(agent_above({}))"
    assert "is above it" in below(world, program, f'{sys.executable} -c "{code}"').stdout


@pytest.mark.parametrize("mark", MARKS)
def test_every_mark(mark: str) -> None:
    assert agent_above({mark: "1"}) == f"{mark} is set in its environment"
    assert not agent_above({mark: ""})


def test_a_mark_that_was_taken_away(world: World) -> None:
    """The shell above still has it."""
    code = "import os; from anyhook.guard.below_agent import agent_above; print(agent_above(os.environ))"
    done = below(world, "some-shell", f'env -u CLAUDECODE {sys.executable} -c "{code}"', CLAUDECODE="1")
    assert "CLAUDECODE is set for a process above it" in done.stdout


@pytest.mark.parametrize(
    ("words", "is_agent"),
    [
        (["node", "node", "/usr/bin/gemini", "-p", "x"], True),
        (["MainThread", "node", "--no-warnings", "/usr/lib/node_modules/x/gemini.js"], True),
        (["claude", "claude", "--resume"], True),
        (["", "/opt/homebrew/bin/claude"], True),
        (["python3", "python3", "/x/bin/kimi"], True),
        (["anyhook", "python", "/x/bin/anyhook", "agent", "run", "hello"], True),
        (["bash", "-bash"], False),
        (["code", "/usr/share/code/code", "--type=ptyHost"], False),
        (["vim", "vim", "claude"], False),
        (["bash", "bash", "-c", "claude --version && pytest"], False),
        (["pytest", "python3", "-m", "pytest", "tests/agents/claude"], False),
        (["anyhook", "python", "/x/bin/anyhook", "status"], False),
        ([], False),
    ],
)
def test_what_a_process_is(monkeypatch: pytest.MonkeyPatch, words: list[str], is_agent: bool) -> None:
    monkeypatch.setattr(below_agent, "above", lambda _: iter([(7, words)]))
    monkeypatch.setattr(below_agent, "environment_of", lambda _: {})
    assert bool(agent_above({})) is is_agent


def test_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS: `ps` knows what is above."""
    monkeypatch.setattr("anyhook.platform.above.contents", lambda _: b"")
    monkeypatch.setattr("anyhook.platform.above.read_process", lambda _: None)
    listed = f"{os.getpid()} 70 python3 x\n70 60 /bin/zsh -c y\n60 1 node /usr/local/bin/gemini\n1 0 /sbin/launchd\n"
    answer = ProgramAnswer(0, listed.encode(), b"")
    monkeypatch.setattr("anyhook.platform.above.ask", lambda *_, **__: answer)
    assert "process 60" in agent_above({})
