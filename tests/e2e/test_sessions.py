"""When a program gets SIGTERM, its session_end hooks run before it exits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import sys, time
from anyhook import Engine
from anyhook.engine.sessions import end_on_sigterm
engine = Engine.open(sys.argv[1])
restore = end_on_sigterm(engine, lambda: {"turns": 17})
if len(sys.argv) > 2:
    restore()
print("ready", flush=True)
time.sleep(60)
"""


def end_program(tmp_path: Path, *extra: str) -> int:
    config = tmp_path / "home/.config/kode/config.yaml"
    config.parent.mkdir(parents=True)
    config.write_text(f"hooks:\n  session_end:\n    - exec: [sh, -c, 'cat > {tmp_path}/heard.json']\n")
    project = tmp_path / "project"
    project.mkdir()
    env = {"HOME": str(tmp_path / "home"), "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(project), *extra], env=env, stdout=subprocess.PIPE, text=True
    ) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "ready\n"
        program.send_signal(signal.SIGTERM)
        return program.wait(30)


def test_session_end_is_fired_on_sigterm(tmp_path: Path) -> None:
    assert end_program(tmp_path) == -signal.SIGTERM
    heard = json.loads((tmp_path / "heard.json").read_text())
    assert (heard["event"], heard["reason"], heard["turns"]) == ("session_end", "sigterm", 17)


def test_the_handler_can_be_taken_away(tmp_path: Path) -> None:
    assert end_program(tmp_path, "restored") == -signal.SIGTERM
    assert not (tmp_path / "heard.json").exists()
