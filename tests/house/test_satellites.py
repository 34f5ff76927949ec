"""The core works without its satellites, the folders of `extra/`. It names none of them, and without one of them its
tests pass, and a verb that needs it says so.

The slow test copies the tree, deletes one satellite and its tests, and runs the core's tests. To stay within minutes it
leaves out LEFT_OUT and what `make test` leaves out, and takes one case of each test. Tests of the core that use the
missing satellite are skipped (see `tests/satellite.py`), and may not be many."""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sources import ROOT, SOURCE, nodes_of

from anyhook.cli.app import VERBS
from anyhook.satellites import PACKAGE, SATELLITES
from satellite import satellite
from warm_box import built

if TYPE_CHECKING:
    from collections.abc import Iterator

    from conftest import World

NAMING = {"satellites.py", "cli/app.py"}
"""The files of the core that name the package of the satellites: how it is asked for, and the table of verbs."""
PUBLIC = "adapters/"
"""The documented paths of the adapters. They only point into a satellite, and no room of the core imports them."""
LEFT_OUT = ("corpus", "guards", "house", "journal", "laws", "payloads")
"""Folders of the core's tests that take long and call no verb that a satellite could break: the recorded answers, the
commands of the guards' corpora, the properties, the journal's files, all captured payloads, and this folder."""
LIMIT_S = 1800
"""Against a run that hangs: alone on the machine it takes a few minutes, and much longer beside others."""
FEW = 0.1
"""The part of the core's tests that may need one satellite."""
PRE_TOOL = ("bridge", "claude", "PreToolUse")
CALL = json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}})


def imported(path: Path) -> Iterator[str]:
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\banyhook\.extra\b", node.value)


def test_the_core_names_no_satellite() -> None:
    """Not even in a text, with which it could import one."""
    files = [path.relative_to(SOURCE).as_posix() for path in SOURCE.rglob("*.py")]
    core = [name for name in files if not name.startswith(("extra/", PUBLIC))]
    assert {name for name in core if any(PACKAGE in each for each in imported(SOURCE / name))} == NAMING
    inward = [name for name in core if any(each.startswith("anyhook.adapters") for each in imported(SOURCE / name))]
    assert inward == []


def test_the_cores_tests_import_no_satellite() -> None:
    """They ask for it when they run."""
    files = [path for path in (ROOT / "tests").rglob("*.py") if "extra" not in path.relative_to(ROOT).parts]
    naming = {
        path.name
        for path in files
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.Import | ast.ImportFrom) and PACKAGE in ast.unparse(node)
    }
    assert naming == set()


def test_each_folder_is_a_satellite_with_tests_of_its_own() -> None:
    folders = {path.parent.name for path in (SOURCE / "extra").glob("*/__init__.py")}
    assert folders == set(SATELLITES)
    assert {path.name for path in (ROOT / "tests" / "extra").iterdir() if path.name in folders} == folders


class Copy:
    """The sources without some satellites, and the command from them."""

    def __init__(self, root: Path, without: tuple[str, ...]) -> None:
        self.source = root / "src"
        shutil.copytree(SOURCE, self.source / "anyhook")  # with what is compiled: to compile it again takes longest
        for name in without:
            shutil.rmtree(self.source / "anyhook" / "extra" / name, ignore_errors=True)

    def run(self, world: World, *words: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        env = {**world.env, "PYTHONPATH": str(self.source)}
        argv = [sys.executable, "-m", "anyhook", *words]
        return subprocess.run(
            argv, env=env, cwd=world.project, input=stdin, capture_output=True, text=True, check=False, timeout=60
        )


@pytest.fixture(scope="module")
def core(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("core"), tuple(SATELLITES))


def test_a_verb_without_its_satellite_says_so(core: Copy, world: World) -> None:
    for verb, (module, _) in VERBS.items():
        if not module.startswith(PACKAGE):
            continue
        done = core.run(world, verb)
        folder = module.split(".")[2]
        said = f"anyhook {verb}: this installation lacks {SATELLITES[folder]} (the folder `extra/{folder}`)."
        assert (done.returncode, done.stdout) == (3, ""), (verb, done.stderr)
        assert done.stderr == f"{said} Install anyhook again.\n"


def test_the_core_works_without_any(core: Copy, world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo never >&2; exit 2", scope="project")
    assert core.run(world, "trust", "--yes").returncode == 0
    assert core.run(world, "add", "guard", "--yes").returncode == 0
    assert core.run(world, "fire", "pre_tool", "--tool", "Bash").returncode == 2
    world.env["ANYHOOK_WARM"] = "on"
    answered = core.run(world, *PRE_TOOL, stdin=CALL)
    assert json.loads(answered.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", answered
    for words, statuses in (
        (("status",), (0, 1)), (("doctor",), (0, 1)), (("verify",), (0,)), (("setup", "--yes"), (0, 1)),
        (("check",), (0,)), (("list",), (0,)), (("log",), (0,)), (("--help",), (0,)), ((), (0,)),
    ):  # fmt: skip
        done = core.run(world, *words)
        assert done.returncode in statuses, (words, done)
        assert "could not go on" not in done.stderr, (words, done)


@pytest.mark.parametrize("words", [("setup", "--yes", "--live", "claude"), ("doctor", "--live")])
def test_what_was_asked_for_and_is_missing_is_said_before_anything_is_done(
    core: Copy, world: World, words: tuple[str, ...]
) -> None:
    done = core.run(world, *words)
    assert (done.returncode, done.stdout) == (3, ""), done
    assert "`extra/live`" in done.stderr
    own = world.state / "agents"  # which packages add an agent; every call may keep it
    assert not [path for path in world.home.rglob("*") if path.is_file() and own not in path.parents]


@pytest.mark.parametrize("mark", ["--warm-start", "--warm-lost"])
def test_a_call_that_the_launcher_makes_runs_cold(core: Copy, world: World, mark: str) -> None:
    world.hook("kodik", "PreToolUse", "echo never >&2; exit 2")
    done = core.run(world, mark, *PRE_TOOL, stdin=CALL)
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", done
    assert (done.returncode, done.stderr) == (0, "")


def test_the_launcher_itself(core: Copy, world: World, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    folder.mkdir()
    launcher = built(folder)
    script = folder / "anyhook-python"
    moved = f"import sys\nsys.path.insert(0, {str(core.source)!r})\ntry:\n"
    script.write_text(script.read_text().replace("try:\n", moved, 1))
    world.hook("kodik", "PreToolUse", "echo never >&2; exit 2")
    env = {**world.env, "XDG_RUNTIME_DIR": str(tmp_path)}
    for wanted in ("on", "auto", "off"):
        done = subprocess.run(
            [str(launcher), *PRE_TOOL], env={**env, "ANYHOOK_WARM": wanted}, cwd=world.project, input=CALL,
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, ""), (wanted, done)
        assert "never" in done.stdout


def test_a_server_that_cannot_be_loaded_opens_no_gate(world: World, tmp_path: Path) -> None:
    """The launcher's word comes before the verb. What fails there is a failure of the call all the same."""
    satellite("warm")
    broken = Copy(tmp_path, ())
    (broken.source / "anyhook" / "extra" / "warm" / "launched.py").write_text("raise RuntimeError('broken')\n")
    world.hook("kodik", "PreToolUse", "exit 2")
    done = broken.run(world, "--warm-start", *PRE_TOOL, stdin=CALL)
    assert done.returncode == 2, done


def test_a_satellite_that_needs_another_one(world: World, tmp_path: Path) -> None:
    satellite("agent")
    without = Copy(tmp_path, ("frameworks",))
    done = without.run(world, "agent", "run", "Go.")
    assert (done.returncode, done.stdout) == (3, ""), done
    assert "extra/frameworks" in done.stderr
    assert without.run(world, "trust").returncode == 0


def without(root: Path, name: str) -> tuple[Path, Path]:
    """A copy of the tree in which a satellite and its tests are missing, and a Python in which that copy is installed
    as this tree is here: calls that a test starts with an environment of its own must not find this tree."""
    tree = root / "tree"
    tree.mkdir()
    # What is made and not kept, at the top: the examples have folders with such names.
    made = (".git", ".venv*", ".*_cache", ".hypothesis", ".make", ".agents", "site", "dist", "build", "__pycache__")
    for path in ROOT.iterdir():
        if path.is_dir() and not any(path.match(each) for each in made):
            shutil.copytree(path, tree / path.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
        elif path.is_file():
            shutil.copy(path, tree / path.name)
    shutil.rmtree(tree / "src" / "anyhook" / "extra" / name)
    shutil.rmtree(tree / "tests" / "extra" / name)
    venv = root / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
    packages = Path(sysconfig.get_path("purelib", vars={"base": str(venv)}))
    for path in Path(sysconfig.get_path("purelib")).iterdir():
        if path.suffix != ".pth" and path.name != "anyhook":
            (packages / path.name).symlink_to(path)
    (packages / "tree.pth").write_text(f"{tree / 'src'}\n")
    python = venv / "bin" / "python"
    script = (tree / "scripts" / "anyhook").read_text().replace("#!python", f"#!{python}")
    for command in ("anyhook", "anyhook-python"):
        (venv / "bin" / command).write_text(script)
        (venv / "bin" / command).chmod(0o755)
    return tree, python


@pytest.mark.slow
@pytest.mark.timeout(LIMIT_S + 60)
@pytest.mark.parametrize("name", SATELLITES)
def test_the_cores_tests_pass_without_it(tmp_path: Path, name: str) -> None:
    tree, python = without(tmp_path, name)
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "ANYHOOK", "COV"))}
    where = [str(python), "-c", "import anyhook; print(anyhook.__file__)"]
    found = subprocess.run(where, env=env, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert found.startswith(str(tree)), "the copy is what is tested"
    folders = sorted(path.name for path in (tree / "tests").iterdir() if [*path.glob("test_*.py")])
    chosen = [f"tests/{folder}" for folder in folders if folder not in LEFT_OUT]
    assert len(chosen) >= 10
    # The plugin that is left out is the test kit's own.
    words = ["-p", "no:anyhook", "--once", "-n", "2", "--dist", "worksteal", "-m", "not slow", "-r", "fEs", *chosen]
    try:
        done = subprocess.run(
            [str(python), "-m", "pytest", *words],
            env=env, cwd=tree, capture_output=True, text=True, check=False, timeout=LIMIT_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired as late:
        pytest.fail(f"not done after {LIMIT_S} s: {(late.stdout or b'')[-3000:].decode()}")
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    ran, waited = (sum(map(int, re.findall(each, done.stdout))) for each in (r"(\d+) passed", r"SKIPPED \[(\d+)\]"))
    assert waited <= FEW * ran, done.stdout[-6000:]
