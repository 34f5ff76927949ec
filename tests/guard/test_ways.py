"""Ways for an agent to switch anyhook off, and innocent lines that look like them, as agents send them: with the packs
of guards on, and off (then only self-protection is left). No way is silent, no innocent line is refused. Nothing is
run."""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from anyhook import Engine
from anyhook.guard import protected
from anyhook.guard.guard import refusal
from anyhook.guard.protected import SameFiles
from anyhook.model.event import Event
from anyhook.platform.places import RealPaths
from conftest import World

if TYPE_CHECKING:
    from collections.abc import Iterator

    from anyhook.model.firing import Answer

DATA = Path(__file__).parents[1] / "data" / "protection"
ROOT = Path(__file__).parents[2]
BIN = str(Path(sys.executable).parent)
PYTHON = "python{}.{}".format(*sys.version_info)
OFF = "anyhook remove guard\n"
SCRIPTS = {
    "off.sh": OFF, "scripts/off.sh": f"echo hi\n{OFF}", "scripts/Makefile": "off:\n\tsh off.sh\n",
    "off.py": "import subprocess\nsubprocess.run(['anyhook', 'remove', 'guard'])\n",
    "off.js": "require('child_process').execSync('anyhook remove guard')\n",
    "build.sh": "#!/bin/sh\nset -e\nrm -rf build\ncp -r src build\ncat ~/.claude/settings.json\n",
    "scripts/ci.sh": "anyhook check\nanyhook status\nmake test\n", "env.sh": "export A=1\n",
    "tool.py": "import sys\nprint(open(sys.argv[2]).read())\n# anyhook remove guard\n",
    "index.js": "console.log('anyhook remove guard')\n", "docs/Makefile": "html:\n\tsphinx-build . out\n",
    "plain.conf": "output = x.html\n",
    "justfile": "off:\n  anyhook remove guard\n", "README.md": "anyhook disable\n",
    ".claude/settings.json": '{"hooks": {}}',
    "package.json": json.dumps({"scripts": {"off": OFF, "build": "tsc", "test": "jest"}}),
    "evil/.config/anyhook/hooks.toml": "", "evil/.claude/settings.json": "{}", "plain/a": "x", "template/x": "",
    "src/a.py": "",
}  # fmt: skip
MAKEFILES = {
    "ways": "all: off\n\techo hi\noff:\n\t@anyhook remove guard\n",
    "innocent-ways": "all:\n\techo hi\ntest:\n\tpytest -q\noff:\n\t@anyhook remove guard\n",
}


class Ground:
    """A home with guards and our entry in two agents, and a project with scripts, archives, links and trees."""

    def __init__(self, root: Path, packs: bool) -> None:
        self.world = World(root)
        self.home, self.project = self.world.home, self.world.project
        self.world.env = {"HOME": str(self.home), "PATH": f"{BIN}:{self.world.env['PATH']}"}
        assert self.world.command("add", "guard", "--yes").returncode == 0
        for agent in ("claude", "codex"):
            assert self.world.command("install", agent).returncode == 0
        if not packs:
            assert self.world.command("remove", "guard").returncode == 0
        for name, text in SCRIPTS.items():
            self.world.write(self.project / name, text, 0o755)
        self.world.write(self.project / "curl.conf", f"output = {self.home}/.claude/settings.json\n")
        with tarfile.open(self.project / "plain.tar", "w") as archive:
            archive.add(self.project / "plain", "plain")
        with zipfile.ZipFile(self.project / "plain.zip", "w") as packed:
            packed.write(self.project / "plain/a", "a")
        (self.project / "link").symlink_to(self.home / ".config/anyhook")
        (self.project / "cfg").symlink_to(self.home / ".claude")
        (self.project / "bound").mkdir()
        mounted = ["mount", "--bind", str(self.home / ".config"), str(self.project / "bound")]
        self.is_bound = subprocess.run(mounted, check=False, capture_output=True).returncode == 0  # only root may
        self.engine = Engine.open(self.project, env=self.world.env)

    def close(self) -> None:
        if self.is_bound:
            subprocess.run(["umount", str(self.project / "bound")], check=True)

    def lines(self, name: str) -> Iterator[str]:
        """The lines of a set; `§` stands for a line break inside a line."""
        (self.project / "makefile").write_text(MAKEFILES[name])
        for line in (DATA / f"{name}.txt").read_text().splitlines():
            needs_mount = "bound/" in line
            if line and not line.startswith("## ") and (self.is_bound or not needs_mount):
                yield line

    def ask(self, agent: str, line: str) -> Answer:
        places = {
            "{home}": str(self.home), "{project}": str(self.project), "{bin}": BIN, "{python}": PYTHON, "§": "\n",
        }  # fmt: skip
        for sign, text in places.items():
            line = line.replace(sign, text)
        call = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": line}}
        payload = {"session_id": "s", "cwd": str(self.project), **call}
        return self.engine.bridge(agent, "PreToolUse", json.dumps(payload).encode())


@pytest.fixture(scope="module", params=[True, False], ids=["packs on", "packs off"])
def ground(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("ways"), packs=request.param)
    yield made
    made.close()


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_no_way_is_silent(ground: Ground, agent: str) -> None:
    """Refused, or asked about; a line that could not be judged is neither."""
    answers = {line: ground.ask(agent, line) for line in ground.lines("ways")}
    assert [line for line, answer in answers.items() if '"deny"' not in answer.stdout + answer.stderr] == [
        line for line, answer in answers.items() if '"ask"' in answer.stdout
    ]
    assert len(answers) >= 120


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    made = Ground(tmp_path_factory.mktemp("innocent"), packs=False)
    yield made
    made.close()


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_no_innocent_line_is_refused(bare: Ground, agent: str) -> None:
    answers = {line: bare.ask(agent, line) for line in bare.lines("innocent-ways")}
    assert {line: answer for line, answer in answers.items() if answer.stdout or answer.stderr} == {}
    assert len(answers) >= 84


# -- our own command as a script, where there is no native launcher

VERBS = {"list": False, "status --json": False, "trust --list": False, "remove guard": True, "trust --yes": True}
STARTS = ("anyhook", "{bin}/anyhook", "{project}/second-name", "python3 {bin}/anyhook", "python3 -I {bin}/anyhook")


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("start", STARTS)
def test_a_launcher_that_is_a_script_is_judged_by_its_verb(world: World, tmp_path: Path, start: str, verb: str) -> None:
    launcher = tmp_path / "own" / "anyhook"
    world.write(launcher, (ROOT / "scripts/anyhook").read_text().replace("#!python", f"#!{sys.executable}", 1), 0o755)
    (world.project / "second-name").symlink_to(launcher)
    line = f"{start} {verb}".format(bin=launcher.parent, project=world.project)
    env = {**world.env, "PATH": f"{launcher.parent}:{world.env['PATH']}"}
    said = refusal(Event.pre_tool("Bash", {"command": line}), env, str(world.project))
    assert (said is not None) is VERBS[verb], said
    assert said is None or "is for people" in said


def test_a_script_of_a_project_with_our_name_is_still_read(world: World) -> None:
    world.write(world.project / "anyhook", "#!/usr/bin/env python3\nfrom anyhook.state import ledger\n", 0o755)
    assert refusal(Event.pre_tool("Bash", {"command": "./anyhook list"}), world.env, str(world.project)) is not None


# -- other spellings of one file


def refused(ground: Ground, tool: str, **given: str) -> bool:
    event = Event.pre_tool(tool, {**given})
    return refusal(event, ground.world.env, str(ground.project)) is not None


def test_a_hard_link(bare: Ground) -> None:
    """Made by a person, or before anyhook was there."""
    (bare.home / ".config/anyhook/config.toml").write_text("protect = true\n")
    (bare.project / "second").hardlink_to(bare.home / ".config/anyhook/config.toml")
    assert "deny" in bare.ask("claude", "echo 'protect = false' > ./second").stdout
    assert not bare.ask("claude", "echo x > ./third").stdout


CASES = [
    ".Config/Anyhook/config.toml", ".CONFIG/anyhook/new.toml", ".config/ANYHOOK", ".Claude/Settings.json",
    ".local/State/anyhook/trust.json",
]  # fmt: skip


@pytest.mark.parametrize("is_numbered", [True, False])
@pytest.mark.parametrize("path", CASES)
def test_a_disk_that_does_not_tell_cases_apart(
    bare: Ground, path: str, is_numbered: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No such disk can be made everywhere, so its answer is given here: every case of a name is the same file. Some
    such disks number each spelling by itself: exFAT through FUSE (seen 2026-11)."""
    given = {"path": str(bare.home / path), "content": "{}"}
    assert not refused(bare, "write_file", **given)
    real = protected.identity

    def folded(asked: str) -> tuple[int, int] | None:
        found = "/"
        for part in asked.strip("/").split("/"):
            names = [each.name for each in Path(found).iterdir()] if Path(found).is_dir() else []
            name = next((each for each in names if each.casefold() == part.casefold()), None)
            if name is None:
                return None
            found = f"{found.rstrip('/')}/{name}"
        return real(found) if is_numbered or found == asked else (1, hash(asked))

    monkeypatch.setattr(protected, "identity", folded)
    assert refused(bare, "write_file", **given)
    assert not refused(bare, "write_file", path=str(bare.home / ".Config/Other/config.toml"), content="{}")


def test_the_same_name_elsewhere_is_another_file(tmp_path: Path) -> None:
    for name in ("a/x", "b/x"):
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text("")
    same = SameFiles([str(tmp_path / "a/x")], RealPaths())
    assert not same.other_name(str(tmp_path / "b/x"))
    assert not same.other_name(str(tmp_path / "a/x"))
    assert not same.other_name(str(tmp_path / "a/X"))  # this disk tells them apart
    (tmp_path / "c").hardlink_to(tmp_path / "a/x")
    assert same.other_name(str(tmp_path / "c")) == str(tmp_path / "a/x")
