"""If variables of an agent's environment change what guards run, a person is told, once per session."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from trust_box import Box

from anyhook.state.start_variables import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

COMMAND = str(Path(sys.executable).with_name("anyhook"))
NAMES = [*KINDS, "BASH_FUNC_grep%%"]


@pytest.fixture
def box(tmp_path: Path) -> Box:
    made = Box(tmp_path.resolve())
    made.write("guard.sh", "#!/bin/sh\nexit 0\n", 0o755)
    made.kodik("./guard.sh")
    made.run("trust", "--yes")
    return made


def told(box: Box, variables: Mapping[str, str], event: str = "SessionStart", session: str = "s") -> str:
    payload: dict[str, Any] = {"session_id": session, "cwd": str(box.project), "hook_event_name": event}
    if event == "PreToolUse":
        payload.update(tool_name="Bash", tool_input={"command": "ls"}, tool_use_id="t")
    done = subprocess.run(
        [COMMAND, "bridge", "claude", event, "--home", str(box.home)], input=json.dumps(payload).encode(),
        env={**box.env, **variables}, cwd=box.project, capture_output=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done
    return str(json.loads(done.stdout or b"{}").get("systemMessage", ""))


@pytest.mark.parametrize("name", NAMES)
def test_each_is_told_once(box: Box, name: str) -> None:
    value = "() { return 1; }" if "%%" in name else "/nonexistent/place"
    assert f"{name}={value}" in told(box, {name: value})
    assert told(box, {name: value}, "PreToolUse") == ""
    line = told(box, {name: value}, "PreToolUse", "another")
    assert f"{name}={value}" in line
    assert "guard.sh" in line
    assert told(box, {"HARMLESS": value}, session="third") == ""


def test_what_was_set_at_install_is_expected_unless_it_leads_into_the_project(box: Box) -> None:
    variables = {"PYTHONPATH": "/nonexistent/place"}
    box.env.update(variables)
    box.run("install", "claude")
    assert told(box, {}) == ""
    assert "PYTHONPATH=/other" in told(box, {"PYTHONPATH": "/other"})
    box.env["PYTHONPATH"] = f"/nonexistent/place:{box.project}/src"
    box.run("install", "claude")
    assert "inside the project" in told(box, {}, session="x")


def test_nobody_is_told_where_no_guard_is_reached(box: Box) -> None:
    (box.project / ".kodik/hooks/hooks.json").unlink()
    variables = {"BASH_ENV": "/nonexistent/place"}
    assert "BASH_ENV" not in told(box, variables)
