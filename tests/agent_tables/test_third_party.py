"""An agent from another package: it is found through its entry point, and every command works with it. None of our
files contains its name."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

import anyhook
from anyhook.platform.store import TIDIED
from conftest import World
from satellite import satellite

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "third-party-agent"
SOURCE = (EXAMPLE / "anyhook_acme.py").read_text()


@pytest.fixture(scope="session")
def made_venv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    venv = tmp_path_factory.mktemp("third-party") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    return venv


@pytest.fixture
def venv(made_venv: Path, tmp_path: Path) -> Path:
    """A copy, so that what one test installs is not there for the next."""
    return shutil.copytree(made_venv, tmp_path / "venv", symlinks=True)


class Installed:
    """A separate Python in which the example is installed, as by `pip install`."""

    def __init__(self, world: World, venv: Path, source: str = SOURCE) -> None:
        self.world = world
        self.python = str(venv / "bin" / "python")
        version = f"python{sys.version_info.major}.{sys.version_info.minor}"
        self.folder = venv / "lib" / version / "site-packages"
        ours = [sysconfig.get_paths()["purelib"], str(Path(anyhook.__file__).parents[1])]
        (self.folder / "ours.pth").write_text("".join(f"{path}\n" for path in ours))
        self.write(source)
        points = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]["entry-points"]["anyhook.agents"]
        lines = ["[console_scripts]", "acme-tool = anyhook_acme:main", "", "[anyhook.agents]"]
        lines += [f"{name} = {module}" for name, module in points.items()]
        world.write(self.folder / "anyhook_acme-1.0.0.dist-info" / "entry_points.txt", "\n".join(lines))

    def write(self, source: str) -> None:
        (self.folder / "anyhook_acme.py").write_text(source)

    def run(self, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.python, "-m", "anyhook", *words],
            input=stdin, env=self.world.env, cwd=self.world.project, capture_output=True, text=True, check=False,
        )  # fmt: skip

    def json(self, *words: str, stdin: str = "") -> Any:
        done = self.run(*words, "--json", stdin=stdin)
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    def python_says(self, code: str) -> str:
        done = subprocess.run(
            [self.python, "-c", code], env=self.world.env, cwd=self.world.project, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        return done.stdout.strip()


@pytest.fixture
def acme(world: World, venv: Path) -> Installed:
    return Installed(world, venv)


def settings(world: World) -> Path:
    return world.project / ".acme" / "settings.json"


def test_the_whole_house(acme: Installed, world: World) -> None:
    """new, list, check, explain, trust, fire, install, bridge, doctor: none of them has code for this agent."""
    satellite("testing")
    assert "acme" in {found["name"] for found in acme.json("dialects")["dialects"]}
    made = acme.run("new", "guard", "--dialect", "acme", "--event", "before_tool", "--tool", "run")
    assert made.returncode == 0, made.stderr
    assert settings(world).is_file()
    (listed,) = acme.json("list", "--dialect", "acme")["hooks"]
    assert (listed["dialect"], listed["status"]) == ("acme", "untrusted")
    assert acme.json("check", "--dialect", "acme")["problems"] == []
    assert acme.run("trust", "--yes").returncode == 0
    call = ("before_tool", "--tool", "run", "--input", '{"command": "echo anyhook-demo-block"}')
    assert [hook["id"] for hook in acme.json("explain", *call)["hooks"]] == [listed["id"]]
    decision = acme.json("fire", *call)
    assert (decision["verdict"], decision["hook"]) == ("block", listed["id"])


def test_other_agents_hooks_run_for_it(acme: Installed, world: World) -> None:
    world.hook("kodik", "PreToolUse", "grep -q 'echo hi' && { echo 'no echo' >&2; exit 2; }; exit 0")
    assert acme.run("install", "acme").returncode == 0
    entry = json.loads((world.home / ".acme" / "settings.json").read_text())["hooks"]
    assert "bridge acme before_tool" in entry["before_tool"][0]["hooks"][0]["command"]
    assert acme.json("doctor", "acme")["acme"]["installed"]
    sent = json.dumps({"chat": "s", "tool": "run", "args": {"command": "echo hi"}, "folder": str(world.project)})
    done = acme.run("bridge", "acme", "before_tool", stdin=sent)
    assert (json.loads(done.stdout), done.returncode) == ({"permit": False, "why": "no echo"}, 0)
    line = world.journal()[-1]
    assert (line["host"], line["event"], line["decision"]["verdict"]) == ("acme", "pre_tool", "block")
    assert acme.run("uninstall", "acme").returncode == 0


def test_its_hooks_run_for_other_agents(acme: Installed, world: World) -> None:
    script = world.write(world.root / "guard", '#!/bin/sh\ngrep -q \'"tool": *"run"\' && exit 2\nexit 0\n', 0o755)
    group = {"matcher": "run", "hooks": [{"type": "command", "command": str(script)}]}
    world.write(world.home / ".acme" / "settings.json", json.dumps({"hooks": {"before_tool": [group]}}))
    sent = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})
    done = acme.run("bridge", "claude", "PreToolUse", stdin=sent)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_its_variables_are_seen(acme: Installed, world: World) -> None:
    world.env["ACME_HOME"] = str(world.root / "elsewhere")
    group = {"hooks": [{"type": "command", "command": "exit 2"}]}
    world.write(world.root / "elsewhere" / "settings.json", json.dumps({"hooks": {"before_tool": [group]}}))
    for _ in range(2):  # from the files, and from the plan
        assert acme.json("fire", "before_tool", "--tool", "run")["verdict"] == "block"
    del world.env["ACME_HOME"]
    assert acme.json("fire", "before_tool", "--tool", "run")["verdict"] == "none"


def test_its_vectors(acme: Installed) -> None:
    satellite("testing")
    done = acme.run("conform", str(EXAMPLE / "vectors"))
    assert done.stdout.splitlines()[-1] == "3 passed, 0 failed", done.stdout


def test_its_page(acme: Installed) -> None:
    satellite("testing")
    done = subprocess.run(
        [acme.python, str(ROOT / "docs" / "generate.py"), "--agent", "acme"],
        env=acme.world.env, capture_output=True, text=True, check=True,
    )  # fmt: skip
    for part in ("# Acme Code (`acme`)", "`before_tool`", "## A hook that blocks", ".acme/settings.json"):
        assert part in done.stdout


LOOKED = "import sys, anyhook.tables.registry as r; print('anyhook.tables.found_agents' in sys.modules, r.OTHERS)"


def test_looked_for_once(acme: Installed, world: World) -> None:
    """The result is cached until the package folders, or the agent's own files, change."""
    said = [acme.python_says(LOOKED)]
    while said[-1].startswith("True") and len(said) < 20:  # nothing is cached for files that changed just now
        time.sleep(0.06)
        said.append(acme.python_says(LOOKED))
    assert said[0].startswith("True")
    assert said[-1] == "False (('acme', 3, ('ACME_HOME',), 'anyhook_acme', ''),)"
    (kept,) = (path for path in (world.state / "agents").iterdir() if path.name != TIDIED)
    assert kept.stat().st_mode & 0o077 == 0
    world.write(acme.folder / "other-1.dist-info" / "entry_points.txt", "[anyhook.agents]\nother = anyhook_acme\n")
    assert acme.python_says(LOOKED).startswith("True")
    kept.write_bytes(b"damaged")
    assert acme.python_says(LOOKED).startswith("True (('acme'")
    kept.chmod(0o666)
    assert acme.python_says(LOOKED).startswith("True")


def test_a_project_brings_no_agent(world: World) -> None:
    """A cloned project may contain what looks like an installed package. It is not loaded."""
    world.write(world.project / "evil-1.dist-info" / "entry_points.txt", "[anyhook.agents]\nevil = evil\n")
    world.write(world.project / "evil.py", f"open({str(world.root / 'ran')!r}, 'w')")
    world.env["PYTHONPATH"] = os.pathsep.join([str(world.project), str(Path(anyhook.__file__).parents[1])])
    done = world.command("dialects", "--json")
    assert "evil" not in done.stdout
    assert not (world.root / "ran").exists()


def test_no_name_of_ours_is_taken(acme: Installed, world: World) -> None:
    entry = acme.folder / "anyhook_acme-1.0.0.dist-info" / "entry_points.txt"
    entry.write_text("[anyhook.agents]\nkode = anyhook_acme\n")
    assert next(found["title"] for found in acme.json("dialects")["dialects"] if found["name"] == "kode") == "Kode"


MISTAKES = {
    "event": ('("pre_tool",)', '("pre_tol",)', "HOST.events[before_tool].canonical: there is no event 'pre_tol'"),
    "effect": ('{"block": Say', '{"blok": Say', "HOST.events[before_tool].says: there is no effect 'blok'"),
    "verdict": ('"block_unless"', '"blocked"', "DIALECT.replies[command].keys[permit].does: there is no word"),
    "scope": ('Source("acme", "user"', 'Source("acme", "usr"', "there is no scope 'usr'"),
    "field": ('input="args"', 'inputs="args"', "there is no field 'inputs'"),
    "old part": ("# -- how it calls us", "def changes():\n    return ()", "it returned belongs in the tuple CHANGES"),
    "handler": ('"command", "command", (', '"command", "cmd", (', "`launch` reads the key 'command'"),
    "variable": ('variables=("ACME_HOME",),', "", "DIALECT.variables: `find` reads ACME_HOME"),
    "name": ('    name="acme",', '    name="acmee",', "must be the agent's name in the registry, 'acme'"),
    "table": ("DIALECT = Dialect(", "DIALECTS = Dialect(", "DIALECTS: it is a Dialect, and its name has to be DIALECT"),
    "syntax": ("DIALECT = Dialect(", "DIALECT = = Dialect(", "SyntaxError"),
    "import": ("tables.vocabulary", "tables.words", "No module named 'anyhook.tables.words'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_names_its_cell_and_takes_nobody_down(world: World, venv: Path, mistake: str) -> None:
    before, after, told = MISTAKES[mistake]
    assert before in SOURCE
    broken = Installed(world, venv, SOURCE.replace(before, after))
    world.hook("kodik", "PreToolUse", "echo 'still here' >&2; exit 2")
    decision = broken.json("fire", "pre_tool", "--tool", "Bash")
    assert (decision["verdict"], decision["reason"]) == ("block", "still here")
    # Its hooks are off, and that is said.
    (problem,) = [problem for problem in decision["problems"] if problem["code"] == "broken-agent"]
    assert told in problem["why"], problem
    assert "acme" in problem["what"]
    # Its agent may still call us. Its answer format is unknown, so we refuse in the format that most agents read.
    called = broken.run("bridge", "acme", "before_tool", stdin="{}")
    assert (called.returncode, called.stdout) == (2, "")
    assert "acme" in called.stderr


def test_a_mistake_that_is_fixed_is_gone(world: World, venv: Path) -> None:
    before, after, told = MISTAKES["event"]
    package = Installed(world, venv, SOURCE.replace(before, after))
    (problem,) = package.json("check")["problems"]
    assert (problem["code"], told in problem["why"]) == ("broken-agent", True)
    package.write(SOURCE)
    assert package.json("check")["problems"] == []
