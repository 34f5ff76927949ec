"""What an approval pins: files that a hostile project could replace later, however a command reaches them."""

from __future__ import annotations

import json
import marshal
import os
import shutil
import sys
from pathlib import Path

import pytest
from trust_box import Box

from conftest import World


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path.resolve())


PINNED = [
    ("sh -c in one word", "sh -c './tools/x.sh --flag'", "tools/x.sh"),
    ("a folder entered first", "cd tools && ./x.sh", "tools/x.sh"),
    ("a folder entered in sh -c", 'bash -c "cd tools; ./x.sh"', "tools/x.sh"),
    ("an assignment", "RUN=./tools/x.sh; $RUN", "tools/x.sh"),
    ("$PWD", '"$PWD/tools/x.sh"', "tools/x.sh"),
    ("${PWD}", '"${PWD}"/tools/x.sh', "tools/x.sh"),
    ("a command substitution", '"$(pwd)/tools/x.sh"', "tools/x.sh"),
    ("backquotes", "`pwd`/tools/x.sh", "tools/x.sh"),
    ("a variable nobody knows", "${NOT_SET:-.}/tools/x.sh", "tools/x.sh"),
    ("the project's variable", '"${KODIK_PROJECT_ROOT}/tools/x.sh"', "tools/x.sh"),
    ("a redirection", "sh <tools/x.sh", "tools/x.sh"),
    ("a pattern", "for each in tools/*.sh; do sh $each; done", "tools/x.sh"),
    ("the current folder by /proc", "/proc/self/cwd/tools/x.sh", "tools/x.sh"),
    ("dots behind a linked folder", "./link/../x.sh", "deep/x.sh"),
    ("a link", "./linked.sh", "tools/x.sh"),
    ("an interpreter of the project", "./tools/by-interpreter", "tools/x.sh"),
    ("an interpreter by env", "./tools/by-env", "tools/x.sh"),
    ("a bare name in the project", "sh bare.sh", "bare.sh"),
]


@pytest.mark.parametrize(("command", "changed"), [case[1:] for case in PINNED], ids=[case[0] for case in PINNED])
def test_a_changed_file_waits_however_the_command_reaches_it(box: Box, command: str, changed: str) -> None:
    for name in ("tools/x.sh", "deep/x.sh", "bare.sh"):
        box.script(name, "first")
    (box.project / "deep/inner").mkdir()
    (box.project / "link").symlink_to("deep/inner")
    (box.project / "linked.sh").symlink_to("tools/x.sh")
    box.write("tools/by-interpreter", "#!./tools/x.sh\n", 0o755)
    box.write("tools/by-env", "#!/usr/bin/env -S ./tools/x.sh\n", 0o755)
    box.kodik(command)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    assert "first" in box.logged(), "the command does reach the file"
    box.script(changed, "second")
    assert box.fire() == ["untrusted"]
    assert "second" not in box.logged()


@pytest.mark.parametrize(
    ("command", "changed"),
    [
        ("python3 tools", "tools/__main__.py"),
        ("python3 -m tools.x", "tools/x.py"),
        ("python3 -m tools", "tools/__main__.py"),
    ],
)
def test_python_folders_and_modules_are_pinned(box: Box, command: str, changed: str) -> None:
    for name in ("tools/__main__.py", "tools/x.py"):
        box.write(name, f"open({str(box.log)!r}, 'a').write('first')\n")
    box.kodik(command)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    assert box.logged() == "first"
    box.write(changed, "print('other')\n")
    assert box.fire() == ["untrusted"]


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_what_well_known_programs_read_unasked_is_pinned(box: Box) -> None:
    box.write("Makefile", f"guard:\n\t@echo first >> '{box.log}'\n")
    box.kodik("make -s guard")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    assert box.logged() == "first\n"
    box.write("Makefile", f"guard:\n\t@echo second >> '{box.log}'\n")
    assert box.fire() == ["untrusted"]


@pytest.mark.parametrize("folder", ["bin", "{project}/bin", "."], ids=["relative", "absolute", "dot"])
def test_a_program_that_path_finds_in_the_project_is_pinned(box: Box, folder: str) -> None:
    place = "" if folder == "." else "bin/"
    box.env["PATH"] = folder.format(project=box.project) + ":" + box.env["PATH"]
    box.script(f"{place}own-tool", "first")
    box.kodik("own-tool --check", "uname")
    box.run("trust", "--yes")
    assert box.fire() == ["ran", "ran"]
    assert box.logged() == "first\n"
    box.script(f"{place}own-tool", "second")
    assert box.fire() == ["untrusted", "ran"]
    box.script(f"{place}uname", "shadow")
    assert box.fire() == ["untrusted", "untrusted"]
    assert box.logged() == "first\n"


def test_argv_lists_are_searched_as_well(box: Box) -> None:
    box.script("tools/x.sh", "first")
    box.write(".kode/config.yaml", 'hooks:\n  tool_call_pre:\n    - exec: ["sh", "-c", "cd tools && exec ./x.sh"]\n')
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    box.script("tools/x.sh", "second")
    assert box.fire() == ["untrusted"]
    assert box.logged() == "first\n"


def test_a_link_that_leads_elsewhere_now_waits(box: Box) -> None:
    box.script("one.sh", "first", box.root)
    box.script("two.sh", "second", box.root)
    (box.project / "x.sh").symlink_to(box.root / "one.sh")
    box.kodik("./x.sh")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    (box.project / "x.sh").unlink()
    (box.project / "x.sh").symlink_to(box.root / "two.sh")
    assert box.fire() == ["untrusted"]
    assert box.logged() == "first\n"


def test_what_cannot_be_pinned_cannot_be_approved(box: Box) -> None:
    os.mkfifo(box.project / "pipe")
    box.script("x.sh", "fine")
    box.kodik("sh ./pipe", "./x.sh")
    done = box.run("trust", "--yes", status=1)
    assert b"no regular file" in done.stderr
    assert box.fire() == ["untrusted", "ran"]
    assert box.json("trust", "--json", status=1)["approved"] is False


def test_files_of_any_number_in_a_hooks_folder_are_pinned(box: Box) -> None:
    box.write(".agents/hooks/gate/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    for number in range(260):
        box.write(f".agents/hooks/gate/a{number:03}", "")
    box.script(".agents/hooks/gate/scripts/run.sh", "first")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    box.script(".agents/hooks/gate/scripts/run.sh", "second")
    assert box.fire() == ["untrusted"]
    assert box.logged() == "first\n"


def _unchecked(source: str, target: Path) -> None:
    """Write a compiled module that Python runs without comparing it with its source."""
    import importlib.util

    code = compile(source, "x", "exec")
    target.parent.mkdir(exist_ok=True)
    target.write_bytes(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code))


def test_compiled_python_beside_a_python_hook_is_not_run_in_its_place(box: Box) -> None:
    box.write("guard.py", "def check(event):\n    return None\n")
    evil = f"open({str(box.log)!r}, 'a').write('compiled')\ndef check(event):\n    return None\n"
    _unchecked(evil, box.project / "__pycache__" / f"guard.{sys.implementation.cache_tag}.pyc")
    hooks = {"PreToolUse": [{"hooks": [{"type": "python", "callable": "guard:check"}]}]}
    box.write(".kolega/hooks.json", json.dumps({"schema_version": 1, "hooks": hooks}))
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    assert box.logged() == ""


def test_a_compiled_extension_that_would_win_over_the_source_waits(box: Box) -> None:
    box.write("guard.py", "def check(event):\n    return None\n")
    hooks = {"PreToolUse": [{"hooks": [{"type": "python", "callable": "guard:check"}]}]}
    box.write(".kolega/hooks.json", json.dumps({"schema_version": 1, "hooks": hooks}))
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    from importlib.machinery import EXTENSION_SUFFIXES

    for suffix in EXTENSION_SUFFIXES:
        extension = box.write(f"guard{suffix}", "\0")
        assert box.fire() == ["untrusted"], suffix
        extension.unlink()
    assert box.fire() == ["ran"]


def test_compiled_python_in_a_hooks_folder_waits(box: Box) -> None:
    folder = ".agents/hooks/gate"
    box.write(f"{folder}/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    box.write(f"{folder}/scripts/run.py", "import policy\n")
    box.write(f"{folder}/scripts/policy.py", "")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]
    assert box.fire() == ["ran"], "what Python itself compiles on a run does not count"
    compiled = box.project / folder / f"scripts/__pycache__/policy.{sys.implementation.cache_tag}.pyc"
    _unchecked(f"open({str(box.log)!r}, 'a').write('x')", compiled)
    assert box.fire() == ["untrusted"]
    assert box.logged() == ""


def test_hooks_whose_names_look_alike_are_approved_one_by_one(box: Box) -> None:
    for folder, name in (("one", "a b"), ("two", "a-b")):
        box.write(f".agents/hooks/{folder}/HOOK.md", f"---\nname: {name}\ndescription: d\ntrigger: before_tool\n---\n")
        box.script(f".agents/hooks/{folder}/scripts/run.sh", folder)
    for name in ("c d", "c-d"):
        box.write(f".kodelet/hooks/{name}", '#!/bin/sh\n[ "$1" = hook ] && echo before_tool_call\ntrue\n', 0o755)
    ids = [hook["id"] for hook in box.json("list", "--json")["hooks"]]
    assert len(set(ids)) == len(ids)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"] * 4


@pytest.mark.parametrize("name", ["kolega", "claude"])
def test_a_file_that_a_hook_only_writes_does_not_change_it(world: World, name: str) -> None:
    """Also where a hook has to start its shell itself."""
    command = "sh -c 'cat >> seen.jsonl'" if name == "kolega" else "cat >> seen.jsonl"
    path = world.project / (".kolega/hooks.json" if name == "kolega" else ".claude/settings.json")
    group = {"matcher": "*", "hooks": [{"type": "command", "command": command}]}
    world.write(path, json.dumps({"schema_version": 1, "hooks": {"PreToolUse": [group]}}))
    assert world.command("trust", "--yes").returncode == 0
    for _ in range(2):
        (hook,) = world.fire("pre_tool", "--tool", "Bash", "--input", "{}")["hooks"]
        assert (hook["status"], (world.project / "seen.jsonl").exists()) == ("ran", True)
