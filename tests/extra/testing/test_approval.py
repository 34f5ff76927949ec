"""What `anyhook test` may run: approved case files and hooks, in a copy that nothing is written out of."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from kit_box import Box

from conftest import World

PASSES = "cases:\n  - {name: it, event: pre_tool, tool: Bash, input: {command: ls}, expect: {verdict: none}}\n"


@pytest.fixture
def box(world: World) -> Box:
    return Box(world)


@pytest.fixture
def hostile(world: World) -> Path:
    folder = world.root / "hostile"
    folder.mkdir()
    return folder


def trusted(box: Box, folder: Path | None = None) -> None:
    done = box.call("trust", "--yes", cwd=folder or box.project)
    assert done.returncode == 0, done.stdout + done.stderr


def refused(done: subprocess.CompletedProcess[str], *said: str) -> None:
    assert (done.returncode, done.stdout) == (3, "")
    assert "Traceback" not in done.stderr
    for text in said:
        assert text in done.stderr


def told(done: subprocess.CompletedProcess[str]) -> str:
    """The failures of the only case."""
    (case,) = json.loads(done.stdout)["cases"]
    return "\n".join(case["failures"])


def setup_case(line: str, head: str = "") -> str:
    return f"{head}cases:\n  - {{name: it, event: stop, setup: {json.dumps(line)}, expect: {{verdict: none}}}}\n"


def test_a_hostile_folder_that_names_an_approved_project(box: Box, hostile: Path) -> None:
    trusted(box)
    mark = box.world.root / "ran"
    case = hostile / "x.hooktest.yaml"
    case.write_text(setup_case(f"touch {mark}", f"project: {box.project}\n"))
    for words in (["test", str(hostile)], ["test", str(case)], ["test", str(case), "--project", str(box.project)]):
        refused(box.call(*words), "you never approved it", f"anyhook trust --project {hostile}")
        assert not mark.exists()
    refused(box.call("test", cwd=hostile), "you never approved it")
    assert not mark.exists()
    shown = box.call("trust", cwd=hostile)
    assert (shown.returncode, mark.exists()) == (1, False)
    assert f"setup    touch {mark}" in shown.stdout, "a person is shown what it would run"
    assert f"project  {box.project}" in shown.stdout
    trusted(box, hostile)
    assert box.call("test", str(hostile)).returncode == 0
    assert mark.exists()


def test_a_folder_without_hooks(box: Box, hostile: Path) -> None:
    """A folder is approved with its case files. A change to them, or `--revoke`, withdraws the approval."""
    (hostile / "sub").mkdir()
    case = hostile / "sub" / "x.hooktest.yaml"
    case.write_text(setup_case("./tool.sh"))
    box.world.write(hostile / "tool.sh", "#!/bin/sh\nexit 0\n", 0o755)
    refused(box.call("test", cwd=hostile))
    trusted(box, hostile)
    assert box.call("test", cwd=hostile).returncode == 0
    assert box.call("test", str(hostile)).returncode == 0, "the same from elsewhere"
    box.world.write(hostile / "tool.sh", f"#!/bin/sh\ntouch {hostile}/ran\n", 0o755)
    refused(box.call("test", cwd=hostile), "or a file that it runs did")
    assert not (hostile / "ran").exists()
    trusted(box, hostile)
    case.write_text(setup_case("./tool.sh; true"))
    refused(box.call("test", cwd=hostile), "it changed since you approved it")
    shown = box.call("trust", cwd=hostile)
    assert "CHANGED  cases:sub/x.hooktest.yaml" in shown.stdout
    assert '+  - {name: it, event: stop, setup: "./tool.sh; true"' in shown.stdout
    trusted(box, hostile)
    assert box.call("test", cwd=hostile).returncode == 0
    assert box.call("trust", "--revoke", "--yes", cwd=hostile).returncode == 0
    refused(box.call("test", cwd=hostile), "you never approved it")


def test_a_case_file_that_came_after_the_approval(box: Box) -> None:
    trusted(box)
    box.cases(setup_case(f"touch {box.world.root}/ran"))
    refused(box.call("test"), "guard.hooktest.yaml: this case file is not run: you never approved it")
    assert not (box.world.root / "ran").exists()


def test_a_link_to_an_approved_case_file_is_another_file(box: Box, hostile: Path) -> None:
    case = box.cases(setup_case("[ ! -e tool.sh ] || ./tool.sh"))
    trusted(box)
    (hostile / "x.hooktest.yaml").symlink_to(case)
    box.world.write(hostile / "tool.sh", f"#!/bin/sh\ntouch {box.world.root}/ran\n", 0o755)
    refused(box.call("test", cwd=hostile))
    refused(box.call("test", str(case), "--project", str(hostile)), "or a file that it runs did")
    assert not (box.world.root / "ran").exists()


@pytest.mark.parametrize("agent", ["", "agent: claude, "])
def test_a_hook_that_came_after_the_approval(box: Box, agent: str) -> None:
    box.cases(
        f"cases:\n  - {{name: it, {agent}event: PreToolUse, tool: Bash, input: {{command: ls}}, "
        "expect: {verdict: none, ran: [kodik]}}\n  - {name: other, event: stop, expect: {verdict: none}}\n"
    )
    trusted(box)
    mark = box.world.root / "ran"
    box.world.hook("kolega", "PreToolUse", f"touch {mark}", scope="project")
    done = box.call("test", "--json")
    assert done.returncode == 1, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert not mark.exists()
    first, second = found["cases"]
    assert "kolega:project:PreToolUse" in first["failures"][0]
    assert f"you never approved it. Look at it: anyhook trust --project {box.project}" in first["failures"][0]
    assert second["failures"] == first["failures"], "nothing runs, whatever its event"
    assert box.call("test", "--trust", "all").returncode == 0
    assert mark.exists()
    mark.unlink()
    trusted(box)
    assert box.call("test").returncode == 0
    assert mark.exists()


def test_a_hook_that_changed_after_the_approval(box: Box) -> None:
    box.world.write(box.project / "stop.sh", "#!/bin/sh\nexit 0\n", 0o755)
    box.world.hook("kodik", "Stop", "./stop.sh", scope="project")
    box.cases("cases:\n  - {name: it, event: stop, expect: {verdict: none}}\n")
    trusted(box)
    assert box.call("test").returncode == 0
    box.world.write(box.project / "stop.sh", f"#!/bin/sh\ntouch {box.world.root}/ran\n", 0o755)
    done = box.call("test", "--json")
    assert done.returncode == 1
    assert "it changed since you approved it" in told(done)
    assert not (box.world.root / "ran").exists()


def test_hooks_that_an_approved_case_brings_along(box: Box) -> None:
    hooks = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}})
    box.cases(
        "cases:\n  - name: it\n    event: stop\n    files: {.kodik/hooks/hooks.json: " + json.dumps(hooks) + "}\n"
        "    expect: {verdict: block, reason: 'no'}\n"
    )
    trusted(box)
    done = box.call("test")
    assert done.returncode == 0, done.stdout


def test_hooks_of_a_project_where_only_case_files_are_approved(box: Box, hostile: Path) -> None:
    (hostile / "x.hooktest.yaml").write_text(PASSES)
    trusted(box, hostile)
    hooks = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": f"touch {box.world.root}/ran"}]}]}}
    box.world.write(hostile / ".kodik" / "hooks" / "hooks.json", json.dumps(hooks))
    refused(box.call("test", cwd=hostile), "you never approved any of them")
    assert not (box.world.root / "ran").exists()


@pytest.mark.parametrize("where", ["out/x", "out/deep/x", "file", "hard"])
def test_files_are_never_written_out_of_the_copy(box: Box, where: str) -> None:
    outside = box.world.root / "outside"
    outside.mkdir()
    box.world.write(outside / "kept", "mine")
    (box.project / "out").symlink_to(outside)
    (box.project / "file").symlink_to(outside / "kept")
    os.link(outside / "kept", box.project / "hard")
    box.cases(f"cases:\n  - {{name: it, event: stop, files: {{{where}: bad}}, expect: {{verdict: none}}}}\n")
    trusted(box)
    done = box.call("test", "--json")
    assert sorted(path.name for path in outside.iterdir()) == ["kept"]
    assert (outside / "kept").read_text() == "mine"
    assert done.returncode == (1 if where.startswith("out") else 0)
    if done.returncode:
        assert "a link leads out of the folder" in told(done)


def test_a_link_inside_the_project_is_followed(box: Box) -> None:
    (box.project / "real").mkdir()
    (box.project / "link").symlink_to("real")
    box.cases("cases:\n  - {name: it, event: stop, files: {link/x: y}, expect: {files: {real/x: y}}}\n")
    trusted(box)
    assert box.call("test").returncode == 0
    assert [*(box.project / "real").iterdir()] == []


@pytest.mark.parametrize("key", ["/abs", "../up", "a/../../up"])
def test_paths_that_lead_out_are_mistakes(box: Box, key: str) -> None:
    box.cases(f"cases:\n  - {{name: it, event: stop, files: {{{key}: bad}}, expect: {{verdict: none}}}}\n")
    refused(box.call("test", "--trust", "all"), "should be a path inside")


def test_what_is_expected_of_a_file_is_read_in_the_copy_alone(box: Box) -> None:
    box.world.write(box.world.root / "secret", "hush")
    (box.project / "out").symlink_to(box.world.root / "secret")
    os.mkfifo(box.project / "pipe")
    box.cases(
        "cases:\n  - {name: it, event: stop, setup: mkfifo made, expect: {files: {out: x, made: x, pipe: null}}}\n"
    )
    trusted(box)
    said = told(box.call("test", "--json"))
    assert "hush" not in said
    assert "files: out leads out of the project" in said
    assert "files: made: cannot be read" in said
    assert "files: pipe" not in said, "a pipe is not copied"


@pytest.mark.parametrize("name", ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"])
def test_a_case_keeps_to_a_home_of_its_own(box: Box, name: str) -> None:
    """Otherwise the case would use the user's journal, approvals or settings."""
    cases = "cases:\n  - {name: it, event: stop, env: {%s: %s}, expect: {verdict: none}}\n"
    box.cases(cases % (name, json.dumps(str(box.world.home))))
    trusted(box)
    before = box.tree()
    assert f"`env` {name}: a case uses only its own folders" in told(box.call("test", "--json"))
    assert box.tree() == before
    box.cases(cases % (name, json.dumps("{home}/own")))
    trusted(box)
    assert box.call("test").returncode == 0


def test_plugins_of_a_case(box: Box) -> None:
    """Plugins in the project are approved with the case. Plugins outside it are rejected."""
    mark = box.world.root / "ran"
    hooks = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}
    for folder in (box.project / "plug", box.world.root / "elsewhere"):
        box.world.write(folder / "hooks" / "hooks.json", json.dumps(hooks))
    cases = "cases:\n  - {name: it, event: stop, dialect: kodik, plugin_dirs: [%s], expect: {ran: [plug]}}\n"
    box.cases(cases % "plug")
    trusted(box)
    done = box.call("test")
    assert done.returncode == 0, done.stdout
    hooks["hooks"]["Stop"][0]["hooks"][0]["command"] = f"touch {mark}"
    box.world.write(box.project / "plug" / "hooks" / "hooks.json", json.dumps(hooks))
    refused(box.call("test"), "or a file that it runs did")
    box.cases(cases % "../elsewhere")
    trusted(box)
    assert "leads out of the project" in told(box.call("test", "--json"))
    assert not mark.exists()


def test_a_ledger_that_the_folder_brings_along(box: Box, hostile: Path) -> None:
    (hostile / "x.hooktest.yaml").write_text(setup_case(f"touch {box.world.root}/ran"))
    done = box.call("trust", "--yes", cwd=hostile)
    assert done.returncode == 0
    own = hostile / "state" / "anyhook"
    own.mkdir(parents=True, mode=0o700)
    (own.parent).chmod(0o700)
    box.world.write(own / "trust.json", (box.world.state / "trust.json").read_text(), 0o600)
    refused(box.call("test", cwd=hostile, XDG_STATE_HOME=str(hostile / "state")))
    assert not (box.world.root / "ran").exists()


def test_the_agents_word_for_hooks_is_none_for_case_files(box: Box) -> None:
    """Approving only hooks keeps earlier approvals of case files and adds no new ones."""
    box.cases(PASSES)
    done = box.call("trust", "--yes", "--dialect", "kodik")
    assert (done.returncode, "cases:" in done.stdout) == (0, False)
    refused(box.call("test"), "you never approved it")
    trusted(box)
    assert box.call("trust", "--yes", "--dialect", "kodik").returncode == 0
    assert box.call("test").returncode == 0
