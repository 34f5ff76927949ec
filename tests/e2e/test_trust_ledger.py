"""The ledger, the compiled plans and their folders. A project that contains its own copies cannot approve itself."""

from __future__ import annotations

import json
import marshal
import mmap
import os
import shutil
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from trust_box import COMMAND, PRE_TOOL, Box, approved, five

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path.resolve())


# --- the ledger


def test_the_ledger_is_private(box: Box) -> None:
    approved(box)
    for path in (box.state, *box.state.rglob("*")):
        assert path.stat().st_mode & 0o077 == 0, path


def _linked(ledger: Path) -> None:
    ledger.rename(ledger.with_name("elsewhere"))
    ledger.symlink_to("elsewhere")


def _writable(ledger: Path) -> None:
    ledger.chmod(0o666)


def _folder_writable(ledger: Path) -> None:
    ledger.parent.chmod(0o777)


def _cut(ledger: Path) -> None:
    ledger.write_bytes(ledger.read_bytes()[:-20])


def _mistyped(ledger: Path) -> None:
    ledger.write_text('{"version": 1, "projects": {"/x": {"when": 1, "items": []}}}')


def _no_object(ledger: Path) -> None:
    ledger.write_text("[[[[")


def _piped(ledger: Path) -> None:
    ledger.unlink()
    os.mkfifo(ledger)


@pytest.mark.parametrize("spoil", [_linked, _writable, _folder_writable, _cut, _mistyped, _no_object, _piped])
def test_a_ledger_that_cannot_be_believed_approves_nothing(box: Box, spoil: Callable[[Path], None]) -> None:
    approved(box)
    spoil(box.state / "trust.json")
    told = box.json(*PRE_TOOL)
    assert [hook["status"] for hook in told["hooks"]] == ["untrusted"]
    assert "ledger-refused" in [problem["code"] for problem in told["problems"]]
    box.run("trust", "--list")
    if spoil is _folder_writable:
        assert b"mode 700" in box.run("trust", "--yes", status=3).stderr
        return
    assert b"trust.json.refused" in box.run("trust", "--yes").stderr
    assert box.fire() == ["ran"]


def test_a_state_folder_inside_the_project_is_not_believed(box: Box) -> None:
    """An environment file can point there, and the project could ship the whole folder."""
    approved(box)
    shutil.copytree(box.state, box.project / ".state/anyhook")
    box.run("trust", "--revoke")
    box.env["XDG_STATE_HOME"] = str(box.project / ".state")
    told = box.json(*PRE_TOOL)
    assert [hook["status"] for hook in told["hooks"]] == ["untrusted"]
    assert "ledger-in-project" in [problem["code"] for problem in told["problems"]]
    box.run("trust", "--yes", status=3)
    assert box.fire() == ["untrusted"]
    (box.root / "way").symlink_to(box.project)
    box.env["XDG_STATE_HOME"] = str(box.root / "way/.state")
    assert box.fire() == ["untrusted"]


def _forged_plan(box: Box, state: Path, mode: int) -> None:
    """Write a compiled plan in which the project's hook is armed. It is valid as long as a certain file is missing."""
    from anyhook.engine.catalog import build
    from anyhook.engine.routes import to_plan
    from anyhook.model.lean_json import short_digest
    from anyhook.state.plans import Setup, plan_name

    asked = Setup.of(str(box.project), dict(box.env), trust="ask")
    plan = to_plan(asked, build(asked.replace(trust="all"), may_start=False))
    plan = plan.replace(stamps={}, checks={f"{box.root}/nothing-has-this-name": None})
    path = state / "plans" / short_digest(plan_name(plan.key))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(marshal.dumps(tuple(getattr(plan, field) for field in plan.fields)))
    path.chmod(mode)


def test_a_forged_plan_inside_the_project_is_not_believed(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    box.env["XDG_STATE_HOME"] = str(box.project / ".state")
    _forged_plan(box, box.project / ".state/anyhook", 0o600)
    assert box.fire() == ["untrusted"]
    assert box.logged() == ""


def test_a_plan_that_others_can_write_is_not_believed(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    _forged_plan(box, box.state, 0o600)
    assert box.fire() == ["ran"], "the forgery would work"
    _forged_plan(box, box.state, 0o666)
    assert box.fire() == ["untrusted"]


def test_user_folders_inside_the_project_are_the_projects(box: Box) -> None:
    box.script("x.sh", "ran")
    box.script("y.sh", "ran")
    box.write(".cfg/kode/config.yaml", f"hooks:\n  tool_call_pre:\n    - exec: {box.project}/x.sh\n")
    box.write(".cfg/agents/hooks/gate/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    box.script(".cfg/agents/hooks/gate/scripts/run.sh", "ran")
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{box.project}/y.sh"}]}]}
    box.write("plugin/hooks/hooks.json", json.dumps({"hooks": hooks}))
    box.write(".cfg/anyhook/config.toml", f'plugins = ["{box.project}/plugin"]\n')
    box.env["XDG_CONFIG_HOME"] = str(box.project / ".cfg")
    assert box.fire() == ["untrusted", "untrusted"]
    assert box.logged() == ""
    box.env["XDG_CONFIG_HOME"] = str(box.root / "cfg")
    (box.project / ".cfg").rename(box.root / "cfg")
    assert box.fire() == ["ran", "ran", "ran"], "outside the project the same files are the user's"


def test_a_home_that_is_the_project_keeps_its_users_hooks(box: Box) -> None:
    box.script(".config/agents/hooks/gate/scripts/run.sh", "ran", box.home)
    declaration = "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n"
    box.write(".config/agents/hooks/gate/HOOK.md", declaration, base=box.home)
    told = box.json(*PRE_TOOL, project=box.home)
    assert [hook["status"] for hook in told["hooks"]] == ["ran"]


def test_approvals_made_at_the_same_time_are_all_kept(box: Box) -> None:
    projects = []
    for number in range(6):
        project = box.root / f"project-{number}"
        box.write(".kodik/hooks/hooks.json", "", base=project)
        shutil.copy(_kodik_file(box), project / ".kodik/hooks/hooks.json")
        projects.append(project)
    nothing = subprocess.DEVNULL
    calls = [[*COMMAND, "trust", "--yes", "--project", str(project)] for project in projects]
    running = [subprocess.Popen(call, env=box.env, stdout=nothing, stdin=nothing) for call in calls]
    assert [process.wait() for process in running] == [0] * len(projects)
    approvals = box.json("trust", "--list", "--json")["approvals"]
    assert {approval["project"] for approval in approvals} == {str(project) for project in projects}


def _kodik_file(box: Box) -> Path:
    box.kodik("true")
    return box.project / ".kodik/hooks/hooks.json"


def test_an_approval_is_of_one_path_and_reaches_no_project_inside(box: Box) -> None:
    approved(box)
    inner = box.project / "vendor/inner"
    shutil.copytree(box.project / ".kodik", inner / ".kodik")
    shutil.copy(box.project / "x.sh", inner / "x.sh")
    told = box.json(*PRE_TOOL, project=inner)
    assert [hook["status"] for hook in told["hooks"]] == ["untrusted"]


def test_approving_one_dialect_leaves_the_others_alone(box: Box) -> None:
    five(box)
    box.run("trust", "--yes", "--dialect", "kode")
    box.run("trust", "--yes", "--dialect", "kodik")
    assert box.fire() == ["ran", "ran", *["untrusted"] * 4]
    box.run("trust", "--revoke", "--dialect", "kode")
    assert box.fire() == ["untrusted", "ran", *["untrusted"] * 4]
    box.run("trust", "--revoke")
    assert box.fire() == ["untrusted"] * 6


def test_a_project_that_is_gone_is_listed_so_and_can_be_forgotten(box: Box) -> None:
    approved(box)
    shutil.rmtree(box.project)
    assert b"gone" in box.run("trust", "--list").stdout
    assert box.json("trust", "--list", "--json")["approvals"][0]["there"] is False
    box.run("trust", "--revoke")
    assert box.json("trust", "--list", "--json") == {"approvals": []}
    assert list((box.state / "approved").iterdir()) == [], "no copy outlives its approval"
    box.run("trust", "--revoke", status=3)


# --- compiled plans


def _with_plan(box: Box) -> None:
    approved(box)
    time.sleep(0.1)  # no plan is stored for files that just changed
    box.fire()
    assert list((box.state / "plans").iterdir()), "there is a plan to be wrong"


def test_a_plan_does_not_run_other_bytes_of_the_same_size_and_time(box: Box) -> None:
    _with_plan(box)
    script = box.project / "x.sh"
    seen = script.stat()
    script.write_text(script.read_text().replace("echo ran", "echo bad"))
    os.utime(script, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert script.stat().st_size == seen.st_size
    assert box.fire() == ["untrusted"]
    assert "bad" not in box.logged()


def test_a_script_rewritten_through_a_memory_map_waits(box: Box) -> None:
    """Once its page is dirty, such a write changes no stamp."""
    approved(box)
    script = box.project / "x.sh"
    with script.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        mapped[0:1] = mapped[0:1]
        time.sleep(0.1)  # no plan is stored for files that just changed
        assert box.fire() == ["ran"]
        text = bytes(mapped[:])
        mapped[:] = text.replace(b"echo ran", b"echo bad")
        assert box.fire() == ["untrusted"]
        assert box.json("status", "--json", status=1)["gates"][0]["state"] == "changed"
        mapped[:] = text
        assert box.fire() == ["ran"], "the approved bytes are back"
        assert box.json("status", "--json")["gates"][0]["state"] == "armed"
    assert "bad" not in box.logged()


def test_a_plan_does_not_outlive_its_approval(box: Box) -> None:
    _with_plan(box)
    box.run("trust", "--revoke")
    assert box.fire() == ["untrusted"]


def test_a_plan_for_one_trust_mode_is_not_used_for_another(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    time.sleep(0.1)
    for _ in range(2):
        assert box.json(*PRE_TOOL, "--trust", "all")["hooks"][0]["status"] == "ran"
    assert box.fire() == ["untrusted"]
