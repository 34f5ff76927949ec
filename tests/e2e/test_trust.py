"""Trust, through the installed command: what waits, what an approval pins, who can approve, and what a hostile project
may try."""

from __future__ import annotations

import json
import marshal
import os
import pty
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

COMMAND = [str(Path(sys.executable).with_name("anyhook"))]
Done = subprocess.CompletedProcess[bytes]
PRE_TOOL = ("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}', "--json")


class Box:
    """A user with a home folder and one project."""

    def __init__(self, root: Path) -> None:
        self.root, self.home, self.project = root, root / "home", root / "project"
        self.log = root / "log"
        self.env = {"HOME": str(self.home), "PATH": os.environ["PATH"]}
        for folder in (self.home, self.project):
            folder.mkdir()

    def write(self, name: str, text: str, mode: int = 0o644, base: Path | None = None) -> Path:
        path = (base or self.project) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(mode)
        return path

    def script(self, name: str, word: str, base: Path | None = None) -> Path:
        return self.write(name, f"#!/bin/sh\necho {word} >> '{self.log}'\n", 0o755, base)

    def kodik(self, *commands: str, event: str = "PreToolUse") -> None:
        hooks = [{"type": "command", "command": command} for command in commands]
        self.write(".kodik/hooks/hooks.json", json.dumps({"hooks": {event: [{"hooks": hooks}]}}))

    def run(self, *words: str, status: int | None = 0, project: Path | None = None) -> Done:
        argv = [*COMMAND, *words, "--project", str(project or self.project)]
        done = subprocess.run(
            argv, env=self.env, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        assert status is None or done.returncode == status, (done.stdout, done.stderr)
        assert b"Traceback" not in done.stderr, done.stderr
        return done

    def json(self, *words: str, status: int | None = 0, project: Path | None = None) -> Any:
        return json.loads(self.run(*words, status=status, project=project).stdout)

    def fire(self) -> list[str]:
        """The statuses of the hooks of one event."""
        return [hook["status"] for hook in self.json(*PRE_TOOL, status=None)["hooks"] if hook["scope"] != "builtin"]

    def listed(self) -> list[str]:
        return [hook["status"] for hook in self.json("list", "--json")["hooks"] if hook["scope"] != "builtin"]

    def logged(self) -> str:
        return self.log.read_text() if self.log.exists() else ""

    @property
    def state(self) -> Path:
        return self.home / ".local/state/anyhook"


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path.resolve())


def _five(box: Box) -> None:
    """A project with hooks of every kind; each leaves a word in the log when it is started or imported."""
    box.script("tools/kode.sh", "kode")
    box.write(".kode/config.yaml", "hooks:\n  tool_call_pre:\n    - exec: ./tools/kode.sh\n")
    box.kodik("./tools/kodik.sh")
    box.script("tools/kodik.sh", "kodik")
    box.write(".agents/hooks/gate/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    box.script(".agents/hooks/gate/scripts/run.sh", "agenthooks")
    box.write("guard.py", f"open({str(box.log)!r}, 'a').write('python\\n')\n\ndef check(event):\n    return None\n")
    handlers = [{"type": "command", "command": "./tools/kolega.sh"}, {"type": "python", "callable": "guard:check"}]
    box.script("tools/kolega.sh", "kolega")
    box.write(".kolega/hooks.json", json.dumps({"schema_version": 1, "hooks": {"PreToolUse": [{"hooks": handlers}]}}))
    answer = "if [ \"$1\" = hook ]; then echo before_tool_call; fi\n"
    box.write(".kodelet/hooks/asked", f"#!/bin/sh\necho kodelet-$1 >> '{box.log}'\n{answer}", 0o755)


def test_nothing_of_an_unapproved_project_is_started_imported_or_asked(box: Box) -> None:
    _five(box)
    for event in ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "stop", "session_end"):
        box.run("fire", event, "--tool", "Bash", "--json")
    box.run("explain", "pre_tool", "--tool", "Bash")
    for words in (("list",), ("list", "--json"), ("check",)):
        box.run(*words, status=None)
    box.run("trust", status=1)
    box.run("trust", "--json", status=1)
    assert box.logged() == ""
    assert box.fire() == ["untrusted"] * 6
    box.run("trust", "--yes")
    assert box.logged() == "kodelet-hook\n", "the executable was asked for its event, and nothing else was started"
    assert box.fire() == ["ran"] * 6
    started = box.logged().split()
    assert started == ["kodelet-hook", "kode", "kodik", "agenthooks", "kolega", "python", "kodelet-run"]


def test_an_empty_project_needs_no_approval(box: Box) -> None:
    assert b"no hooks" in box.run("trust").stdout
    assert box.json("trust", "--json") == {"project": str(box.project), "approved": True, "items": [], "problems": []}
    assert not box.state.joinpath("trust.json").exists()


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
    """A compiled module that Python runs without comparing it with its source."""
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
        box.write(f".kodelet/hooks/{name}", "#!/bin/sh\n[ \"$1\" = hook ] && echo before_tool_call\ntrue\n", 0o755)
    ids = [hook["id"] for hook in box.json("list", "--json")["hooks"]]
    assert len(set(ids)) == len(ids)
    box.run("trust", "--yes")
    assert box.fire() == ["ran"] * 4


# --- the ledger


def _approved(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    box.run("trust", "--yes")
    assert box.fire() == ["ran"]


def test_the_ledger_is_private(box: Box) -> None:
    _approved(box)
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
    _approved(box)
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
    """An environment file can point there, and the project can have brought everything in it along."""
    _approved(box)
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
    """A compiled plan in which the project's hook is armed and no file matters."""
    from anyhook.catalog import build
    from anyhook.model.catalog import Setup
    from anyhook.plan import key_of, to_plan
    from anyhook.stores.plans import plan_path

    asked = Setup.of(str(box.project), dict(box.env), trust="ask")
    plan = to_plan(build(asked.replace(trust="all"), may_start=False))
    path = Path(plan_path(str(state), key_of(asked)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(marshal.dumps({**plan, "stamps": {}, "key": key_of(asked)}))
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
    box.write(".cfg/kode/config.yaml", f"hooks:\n  tool_call_pre:\n    - exec: {box.project}/x.sh\n")
    box.write(".cfg/agents/hooks/gate/HOOK.md", "---\nname: gate\ndescription: d\ntrigger: before_tool\n---\n")
    box.script(".cfg/agents/hooks/gate/scripts/run.sh", "ran")
    hooks = {"PreToolUse": [{"hooks": [{"type": "command", "command": f"{box.project}/x.sh"}]}]}
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
    _approved(box)
    inner = box.project / "vendor/inner"
    shutil.copytree(box.project / ".kodik", inner / ".kodik")
    shutil.copy(box.project / "x.sh", inner / "x.sh")
    told = box.json(*PRE_TOOL, project=inner)
    assert [hook["status"] for hook in told["hooks"]] == ["untrusted"]


def test_approving_one_dialect_leaves_the_others_alone(box: Box) -> None:
    _five(box)
    box.run("trust", "--yes", "--dialect", "kode")
    box.run("trust", "--yes", "--dialect", "kodik")
    assert box.fire() == ["ran", "ran", *["untrusted"] * 4]
    box.run("trust", "--revoke", "--dialect", "kode")
    assert box.fire() == ["untrusted", "ran", *["untrusted"] * 4]
    box.run("trust", "--revoke")
    assert box.fire() == ["untrusted"] * 6


def test_a_project_that_is_gone_is_listed_so_and_can_be_forgotten(box: Box) -> None:
    _approved(box)
    shutil.rmtree(box.project)
    assert b"gone" in box.run("trust", "--list").stdout
    assert box.json("trust", "--list", "--json")["approvals"][0]["there"] is False
    box.run("trust", "--revoke")
    assert box.json("trust", "--list", "--json") == {"approvals": []}
    assert list((box.state / "approved").iterdir()) == [], "no copy outlives its approval"
    box.run("trust", "--revoke", status=3)


# --- compiled plans


def _with_plan(box: Box) -> None:
    _approved(box)
    time.sleep(0.1)  # a catalog of files that have only just changed is not kept
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


# --- what a person sees


def test_a_change_is_shown_as_a_difference(box: Box) -> None:
    _approved(box)
    box.write("x.sh", f"#!/bin/bash\necho ran >> '{box.log}'\necho more\n", 0o755)
    box.kodik("./x.sh --loud")
    shown = box.run("trust", status=1).stdout.decode()
    assert box.listed() == ["changed"]
    assert "CHANGED  kodik:project:PreToolUse:x.sh" in shown
    declared = ('-    "command": "./x.sh",', '+    "command": "./x.sh --loud",')
    for line in (*declared, "-#!/bin/sh", "+#!/bin/bash", "+echo more"):
        assert f"\n    {line}\n" in shown, line
    assert "x.sh  sha256:" in shown
    box.kodik("true")
    shown = box.run("trust", status=1).stdout.decode()
    assert "REMOVED  kodik:project:PreToolUse:x.sh" in shown
    assert "NEW  kodik:project:PreToolUse:true" in shown


def test_what_it_takes_from_the_user_is_said(box: Box) -> None:
    config = "hooks:\n  tool_call_pre:\n    - exec: /bin/true\n  session_start:\n    - exec: /bin/true\n"
    box.write(".config/kode/config.yaml", config, base=box.home)
    box.write(".kode/config.yaml", "hooks:\n  tool_call_pre: []\n  session_start:\n    - exec: /bin/false\n")
    shown = box.run("trust", status=1).stdout.decode()
    assert "switches off the user's hooks of tool_call_pre: kode:user:tool_call_pre:true" in shown
    assert "takes the place of kode:user:session_start:true" in shown
    items = {item["id"]: item for item in box.json("trust", "--json", status=1)["items"]}
    assert items["kode:project:tool_call_pre:[]"]["overrides"] == ["kode:user:tool_call_pre:true"]
    assert {item["status"] for item in items.values()} == {"new"}


def test_nothing_of_the_project_steers_the_terminal(box: Box) -> None:
    name = "bell\x07\x1b]0;title\x1b\\line\nfeed\u202e.sh"
    box.write(name, "#!/bin/sh\n# \x1b[2J\x1b[1A hidden\r# visible \u202e\u2066 \x9b2J\n", 0o755)
    box.kodik(f"sh './{name}'", "echo \x1b[8m secret \x9b0m")
    for words in (("trust",), ("trust", "--json"), ("trust", "--yes"), ("trust", "--list")):
        done = box.run(*words, status=None)
        text = (done.stdout + done.stderr).decode()
        assert not [char for char in text if char != "\n" and not char.isprintable()], words
    assert box.json("trust", "--json")["items"][1]["runs"]["command"] == "echo \x1b[8m secret \x9b0m"
    shown = box.run("trust").stdout.decode()
    assert "\\x1b[8m secret \\x9b0m" in shown
    assert "line\\nfeed\\u202e.sh" in shown


def test_a_long_script_is_cut_where_it_is_said(box: Box) -> None:
    box.write("x.sh", "#!/bin/sh\n" + "".join(f"echo {number}\n" for number in range(1000)) + "x" * 5000, 0o755)
    box.kodik("./x.sh")
    shown = box.run("trust", status=1).stdout.decode()
    assert "+echo 300\n" in shown
    assert "+echo 999\n" not in shown
    assert f"more lines; read them in {box.project}/x.sh]" in shown
    assert "echo 999" in box.json("trust", "--json", status=1)["items"][0]["diff"]


def test_bad_calls_say_so(box: Box) -> None:
    for words in (("--yes", "--revoke"), ("--list", "--yes"), ("--frob",), ("--dialect", "nonsense")):
        done = box.run("trust", *words, status=3)
        assert done.stdout == b""
        assert done.stderr
    box.run("trust", project=box.root / "nowhere", status=3)


# --- the question


class Terminal:
    """The command in a terminal of its own."""

    def __init__(self, box: Box, *words: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.root)
            os.execve(COMMAND[0], [*COMMAND, *words, "--project", str(box.project)], box.env)
        self.seen = b""

    def until(self, words: bytes) -> None:
        while words not in self.seen:
            self.seen += os.read(self.fd, 4096)

    def answer(self, keys: bytes) -> int:
        """Type, and wait for the end; the exit status."""
        os.write(self.fd, keys)
        return self.end()

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.parametrize(
    ("keys", "status"),
    [(b"y\n", 0), (b"YES\n", 0), (b"n\n", 1), (b"\n", 1), (b"yup\n", 1), (b"\x03", 1), (b"\x04", 1)],
    ids=["y", "YES", "n", "empty", "something else", "Ctrl-C", "end of input"],
)
def test_in_a_terminal_a_person_is_asked(box: Box, keys: bytes, status: int) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    terminal = Terminal(box, "trust")
    terminal.until(b"[y/N]")
    assert terminal.answer(keys) == status, terminal.seen
    assert b"Traceback" not in terminal.seen
    assert box.fire() == (["ran"] if status == 0 else ["untrusted"])


def test_exactly_what_was_shown_is_approved(box: Box) -> None:
    box.script("x.sh", "shown")
    box.kodik("./x.sh")
    terminal = Terminal(box, "trust")
    terminal.until(b"[y/N]")
    box.script("x.sh", "swapped")
    assert terminal.answer(b"y\n") == 0
    assert box.fire() == ["untrusted"]
    box.script("x.sh", "shown")
    assert box.fire() == ["ran"]
    assert box.logged() == "shown\n"


def test_nobody_is_asked_where_nothing_waits_or_a_program_reads(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    assert Terminal(box, "trust", "--json").end() == 1
    assert Terminal(box, "fire", "pre_tool", "--tool", "Bash").end() == 0
    assert box.logged() == ""
    box.run("trust", "--yes")
    assert Terminal(box, "trust").end() == 0
