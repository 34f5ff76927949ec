"""Runs the examples and the demo with real processes, and checks that they do what they claim."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from anyhook.model.json_types import Json
from command import as_text, run
from satellite import satellite

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"

KEY = "AKIA" + "ABCDEFGHIJKLMNOP"
ALL = {"kode", "kodik", "agenthooks", "kolega", "kodelet"}
MIXED = {"all-five": ALL, "agent": ALL, "own-agent": {"kodik"}, "guarded": {"anyhook"}}
"""Examples that are not named after their dialect, and the dialects that they use."""
LONG = "\n".join(f"line {number}" for number in range(30))
LAST = "\n".join(f"line {number}" for number in range(10, 30))


def bash(command: str, tool: str = "Bash") -> list[str]:
    return ["--tool", tool, "--input", json.dumps({"command": command})]


# Example, event and options, exit status, and what the decision must contain.
CASES: list[tuple[str, list[str], int, dict[str, Json]]] = [
    ("kode", ["user_prompt_submit", "--prompt", f"use {KEY}"], 0,
     {"verdict": "none", "prompt": "use [AWS key]", "messages": ["took 1 AWS key(s) out of the prompt"]}),
    ("kode", ["user_prompt_submit", "--prompt", "no key"], 0, {"verdict": "none", "prompt": None, "messages": []}),
    ("kode", ["tool_call_pre", *bash("cat .env", "shell")], 2,
     {"verdict": "block", "effect": "deny_tool", "reason": ".env is off limits for the agent"}),
    ("kode", ["tool_call_pre", *bash("cat README", "shell")], 0, {"verdict": "none"}),
    ("kodik", ["PreToolUse", *bash("git push --force")], 2,
     {"verdict": "block", "effect": "deny_tool", "reason": "A force push rewrites what others have pulled."}),
    ("kodik", ["PreToolUse", *bash("git push")], 0,
     {"verdict": "none", "tool_input": {"command": "git push --dry-run"}}),
    ("kodik", ["PreToolUse", *bash("git push --force", "BashTool")], 0, {"verdict": "none", "tool_input": None}),
    ("kodik", ["SessionStart", "--source", "startup"], 0, {"context": ["Current git branch: no branch yet"]}),
    ("agenthooks", ["before_tool", *bash("rm -rf /tmp/other", "Shell")], 2,
     {"verdict": "block", "effect": "deny_tool", "reason": "Not outside the project: /tmp/other"}),
    ("agenthooks", ["before_tool", *bash("rm -rf build", "Shell")], 0, {"verdict": "allow"}),
    ("agenthooks", ["before_tool", *bash("ls", "Shell")], 0, {"verdict": "none"}),
    ("kolega", ["PreToolUse", "--tool", "write_file", "--input", '{"text": "AWS_SECRET=1"}'], 2,
     {"verdict": "block", "effect": "deny_tool", "reason": "Refusing to write AWS_SECRET to disk."}),
    ("kolega", ["PreToolUse", "--tool", "write_file", "--input", '{"text": "x = 1"}'], 0, {"verdict": "none"}),
    ("kolega", ["PostToolUse", *bash("ls", "execute_terminal_command"), "--output", LONG], 0,
     {"tool_output": LAST, "context": ["10 earlier lines were left out."]}),
    ("kolega", ["Stop"], 2,
     {"verdict": "block", "effect": "keep_working", "reason": "Finish what is marked FIXME in: src/cart.py"}),
    ("kodelet", ["before_tool_call", *bash("pytest tests", "bash")], 0, {"tool_input": {"command": "pytest tests -q"}}),
    ("kodelet", ["before_tool_call", *bash("ls", "bash")], 0, {"verdict": "none", "tool_input": None}),
    ("kodelet", ["agent_stop"], 0,
     {"verdict": "none", "follow_ups": ["Add what you changed to CHANGELOG.md, under Unreleased."]}),
]  # fmt: skip


class Shop:
    """A copy of an example, with a separate home."""

    def __init__(self, example: str, folder: Path) -> None:
        self.project, home = folder / example, folder / "home"
        shutil.copytree(EXAMPLES / example, self.project, ignore=shutil.ignore_patterns("__pycache__"))
        home.mkdir()
        path = os.environ.get("PATH", os.defpath)
        # Git must not look for a repository above the copy.
        self.env = {"PATH": path, "HOME": str(home), "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(folder)}

    def call(self, *words: str) -> subprocess.CompletedProcess[str]:
        return as_text(run(words, env=self.env, cwd=self.project))


NAMES = [f"{example} {' '.join(words)[:50]}" for example, words, _, _ in CASES]


@pytest.mark.parametrize(("example", "words", "status", "holds"), CASES, ids=NAMES)
def test_an_example_does_what_it_says(
    tmp_path: Path, example: str, words: list[str], status: int, holds: dict[str, Json]
) -> None:
    done = Shop(example, tmp_path).call("fire", *words, "--trust", "all", "--json")
    assert done.returncode == status, done.stderr
    decision = json.loads(done.stdout)
    assert {key: decision[key] for key in holds} == holds
    # Kode reports every block with this error id. There must be no other problem.
    assert [problem["code"] for problem in decision["problems"] if problem["code"] != "KODE-HOOK-002"] == []


def test_the_background_hook_of_the_example_writes_its_note(tmp_path: Path) -> None:
    shop = Shop("agenthooks", tmp_path)
    words = ["after_tool", "--tool", "WriteFile", "--input", '{"path": "a.py"}', "--trust", "all", "--json"]
    done = shop.call("fire", *words)
    assert [hook["status"] for hook in json.loads(done.stdout)["hooks"]] == ["background"]
    note = shop.project / ".agents" / "written.jsonl"
    for _ in range(2400):
        if note.is_file() and note.read_text().endswith("}\n"):
            break
        time.sleep(0.05)
    assert json.loads(note.read_text())["tool_input"] == {"path": "a.py"}


@pytest.mark.parametrize(
    "example",
    sorted(path.parent.name for path in EXAMPLES.glob("*/README.md") if not (path.parent / "pyproject.toml").exists()),
)
def test_nothing_of_an_example_runs_unasked(tmp_path: Path, example: str) -> None:
    listed = json.loads(Shop(example, tmp_path).call("list", "--json").stdout)
    own = [hook for hook in listed["hooks"] if hook["scope"] == "project"]
    assert {hook["status"] for hook in own} == {"untrusted"}
    assert listed["problems"] == []
    assert {hook["dialect"] for hook in own} == MIXED.get(example, {example})


def demo_module() -> ModuleType:
    spec = importlib.util.spec_from_file_location("demo", ROOT / "scripts" / "demo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo"] = module
    spec.loader.exec_module(module)
    return module


def running_in(folder: Path) -> list[str]:
    """Processes that have the folder in their environment. A process that has just ended counts for a moment."""
    for _ in range(100):
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if os.fsencode(folder) in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_text())
        if not found:
            break
        time.sleep(0.05)
    return found


def test_the_demo_keeps_its_promises_and_leaves_nothing_behind(tmp_path: Path) -> None:
    for name in ("agent", "frameworks", "testing"):
        satellite(name)
    env = {**os.environ, "TMPDIR": str(tmp_path / "t"), "HOME": str(tmp_path / "home")}
    for folder in ("t", "home"):
        (tmp_path / folder).mkdir()
    demo = [sys.executable, str(ROOT / "scripts" / "demo.py")]
    done = subprocess.run(demo, env=env, capture_output=True, text=True, check=False, timeout=240)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    assert "scenes came out as promised" in done.stdout
    assert list((tmp_path / "t").iterdir()) == []
    assert list((tmp_path / "home").iterdir()) == []
    assert running_in(tmp_path) == []
    # Lines with a path in this test's folder may be longer. All others must fit into 80 columns.
    wide = [line for line in done.stdout.splitlines() if len(line) > 80 and str(tmp_path) not in line]
    assert wide == []


@pytest.mark.parametrize(
    ("status", "output", "said"),
    [
        (0, "pre_tool: block", "exit status 0 instead of 2"),
        (2, "pre_tool: none", "it does not say 'block'"),
        (2, "block, secretly", "it says 'secretly'"),
    ],
)
def test_the_demo_notices_a_broken_promise(status: int, output: str, said: str) -> None:
    demo = demo_module()
    scene = demo.Scene("t", "talk", ["fire"], exit=2, shows=["block"], hides=["secretly"])
    demo.expect(scene, 2, "pre_tool: block")
    with pytest.raises(demo.BrokenPromiseError, match=said):
        demo.expect(scene, status, output)


@pytest.mark.parametrize("works", [True, False])
def test_the_demo_says_what_the_agent_needs_before_it_installs_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], works: bool
) -> None:
    demo = demo_module()
    said: list[str] = []

    def pip(*_: object, **__: object) -> subprocess.CompletedProcess[str]:
        said.append(capsys.readouterr().out)
        monkeypatch.setattr(demo, "has_agent", lambda: works)
        return subprocess.CompletedProcess([], 0 if works else 1, "", "" if works else "noise\nERROR: no network\n")

    monkeypatch.setattr(demo, "has_agent", lambda: False)
    monkeypatch.setattr(demo.subprocess, "run", pip)
    assert demo.with_agent() is works
    assert "pydantic-ai" in said[0]
    assert demo.AGENT_SIZE in said[0]
    after = " ".join(capsys.readouterr().out.split())
    assert ("ERROR: no network" in after, "left out" in after) == (not works, not works)


def test_the_agents_scenes_come_last() -> None:
    needs = [scene.needs_agent for scene in demo_module().SCENES]
    assert needs == sorted(needs)
    assert any(needs)
    assert not all(needs)
