"""The import budget of the path that an agent waits for, as a set of modules: no timing needed."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path

import pytest
import tree_sitter
from sources import SOURCE, nodes_of, tree_of

import anyhook
from anyhook.state.plans import read_plan
from anyhook.tables import vocabulary
from anyhook.tables.registry import sample
from conftest import World

FORBIDDEN = frozenset(
    {
        "asyncio", "click", "collections", "concurrent", "contextlib", "dataclasses", "enum", "functools", "importlib",
        "inspect", "json", "logging", "pathlib", "pydantic", "re", "regex", "rich", "shlex", "shutil", "subprocess",
        "tempfile", "threading", "typing", "yaml",
    }
)  # fmt: skip
NOT_FOR_NOTHING = (
    "anyhook.engine.engine",
    "anyhook.engine.walk",
    "anyhook.tables.rows",
    "anyhook.platform.run",
    "anyhook.engine.catalog",
)
"""Modules that need not be loaded if nothing is hooked."""

# The process ends with os._exit, which runs no exit handlers, so the probe reports from there. `-S` leaves out
# site-packages, which this path does not use.
PROBE = """
import os, sys
sys.path[:0] = sys.argv[1:2]
sys.path += filter(None, sys.argv[2:3])
report, before = sys.argv[3], set(sys.modules)
sys.argv = ["anyhook", *sys.argv[4:]]
leave = os._exit
def last(status):
    with open(report, "w") as file:
        file.write("\\n".join([str(status), *sorted(set(sys.modules) - before)]))
    leave(status)
os._exit = last
from anyhook.platform import kept_code
kept_code.file_of = lambda part: "/dev/null/kept"  # only what this call needs is loaded
from anyhook.entry import main
main()
"""
OLDEST = ("kode", "kodik", "agenthooks", "kolega", "kodelet")


def keep_a_plan(world: World) -> None:
    deadline = time.monotonic() + 120
    while read_plan(world.setup()) is None:
        assert time.monotonic() < deadline, "no plan was kept"
        time.sleep(0.02)
        world.engine()


def loaded_by(world: World, *words: str, stdin: str = "", packages: str = "") -> tuple[int, set[str], str]:
    """The exit status of a call, the modules it loaded, and what it printed. `packages` is where others are found."""
    keep_a_plan(world)
    report = world.root / "modules"
    report.unlink(missing_ok=True)
    source = str(Path(anyhook.__file__).parents[1])
    command = [sys.executable, "-I", "-S", "-c", PROBE, source, packages, str(report), *words]
    done = subprocess.run(
        command, input=stdin, env=world.env, cwd=world.project, capture_output=True, text=True, check=False
    )
    assert report.exists(), done.stderr
    status, *modules = report.read_text().splitlines()
    return int(status), set(modules), done.stdout


def agents_of(modules: set[str]) -> set[str]:
    """The agents whose modules were loaded."""
    found = {name.split(".")[2] for name in modules if name.startswith("anyhook.agents.")}
    return {name for name in found if not name.startswith("_")}


def too_much(modules: set[str]) -> set[str]:
    return {name for name in modules if name.partition(".")[0] in FORBIDDEN}


@pytest.mark.parametrize("words", [["--json"], [], ["--json", "--mode", "shadow", "--session", "s"]], ids=" ".join)
def test_nothing_hooked(world: World, words: list[str]) -> None:
    world.hook("kodik", "PreToolUse", "true")
    status, modules, said = loaded_by(world, "fire", "stop", *words)
    assert status == 0
    assert "stop" in said
    assert too_much(modules) == set()
    assert {name for name in modules if name.startswith(NOT_FOR_NOTHING)} == set()


def test_nothing_at_all(world: World) -> None:
    words = ["--tool", "Bash", "--input", '{"command": "ls"}', "--json"]
    status, modules, said = loaded_by(world, "fire", "PreToolUse", *words)
    assert (status, json.loads(said)["hooks"]) == (0, [])
    assert too_much(modules) == set()
    assert {name for name in modules if name.startswith(NOT_FOR_NOTHING)} == set()


@pytest.mark.parametrize("dialect", OLDEST)
@pytest.mark.parametrize(("script", "status"), [("cat > /dev/null", 0), ("block", 2)], ids=["silent", "blocks"])
def test_one_command_hook(world: World, dialect: str, script: str, status: int) -> None:
    shown = sample(dialect)
    world.hook(dialect, shown.event, shown.script if script == "block" else script)
    words = ["--tool", "Bash", "--input", '{"command": "ls"}', "--json"]
    found, modules, said = loaded_by(world, "fire", "pre_tool", *words)
    assert found == status, said
    assert [report["status"] for report in json.loads(said)["hooks"]] == ["ran"]
    assert too_much(modules) == set()
    assert agents_of(modules) == {dialect}, "only the tables of dialects that are used"


@pytest.mark.parametrize("agent", ["claude", "codex", "cline"])
@pytest.mark.parametrize("hooked", [False, True], ids=["nothing", "one"])
def test_an_agent_that_calls_us(world: World, agent: str, hooked: bool) -> None:
    if hooked:
        world.hook("kodik", "PreToolUse", "true")
    found, modules, said = loaded_by(world, "bridge", agent, "PreToolUse", stdin='{"session_id": "s"}')
    assert (found, said) == (0, "")
    assert too_much(modules) == set()
    assert agents_of(modules) == ({agent, "kodik"} if hooked else {agent})
    assert "anyhook.agents.claude.dialect" not in modules, "its own hooks are another matter"
    if agent == "claude" and not hooked:
        assert {name for name in modules if name.startswith(NOT_FOR_NOTHING)} == set()


def test_no_agents_tables_load_anything_heavy() -> None:
    """A call loads the tables of the agents whose hooks it runs, and of the one that calls."""
    script = """
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host
for name in DIALECTS:
    dialect(name)
for name in HOSTS:
    host(name)
print(*sys.modules)
"""
    begin = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r})"
    command = [sys.executable, "-I", "-S", "-c", begin + script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert {"anyhook.agents.claude.dialect", "anyhook.agents.muse"} <= loaded
    assert too_much(loaded) | {name for name in loaded if name == "anyhook.documents.files"} == set()


def test_a_hook_that_does_not_match(world: World) -> None:
    world.kolega("PreToolUse", {"type": "command", "command": "true"}, matcher="Edit|Write")
    found, modules, said = loaded_by(world, "fire", "pre_tool", "--tool", "Bash", "--json")
    assert (found, [report["status"] for report in json.loads(said)["hooks"]]) == (0, ["unmatched"])
    assert too_much(modules) == set()


def test_a_handler_that_asks_a_model_elsewhere(world: World) -> None:
    """A handler's client is loaded only if such a handler runs."""
    world.kolega("Stop", {"type": "prompt", "prompt": "Fine?"})
    world.kolega("PreToolUse", {"type": "prompt", "prompt": "Fine?"}, matcher="Edit")
    world.kolega("PreToolUse", {"type": "command", "command": "true"})
    words = ["--tool", "Bash", "--model", "openai:judge", "--json"]
    found, modules, said = loaded_by(world, "fire", "pre_tool", *words)
    assert (found, [report["status"] for report in json.loads(said)["hooks"]]) == (0, ["unmatched", "ran"])
    assert too_much(modules) == set()
    assert {name for name in modules if name.startswith(("anyhook.handlers.", "pydantic", "httpx"))} == set()


def test_the_probe_sees_what_is_loaded(world: World) -> None:
    """The full command line loads what the fast path must not. Otherwise this file would prove nothing."""
    keep_a_plan(world)
    report, source = world.root / "modules", str(SOURCE.parent)
    command = [sys.executable, "-c", PROBE, source, "", str(report), "fire", "--help"]
    done = subprocess.run(command, env=world.env, cwd=world.project, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert {"click", "anyhook.cli.app"} <= set(report.read_text().splitlines())


def test_the_library_loads_no_command_line() -> None:
    script = "import sys, anyhook; anyhook.Engine, anyhook.Event; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert loaded & {"click", "yaml", "regex", "asyncio"} == set()
    assert "anyhook.cli" not in done.stdout.split()


def test_rules_load_nothing_where_there_are_none(world: World) -> None:
    """Neither the rule language nor the shell grammar is loaded, even if another hook runs."""
    world.hook("kodik", "PreToolUse", "true")
    words = ["--tool", "Bash", "--input", '{"command": "ls"}', "--json"]
    _, modules, said = loaded_by(world, "fire", "pre_tool", *words)
    assert [report["status"] for report in json.loads(said)["hooks"]] == ["ran"]
    found = [name for name in modules if name.startswith(("anyhook.rules", "anyhook.facts", "tree_sitter"))]
    assert found == []


def _lean() -> set[str]:
    """The modules that import types only for type checkers, without `typing`; not agents' tables, one of which is on
    the path of every call of that agent."""
    source = Path(anyhook.__file__).parent
    return {
        name
        for path in source.rglob("*.py")
        if "\nTYPE_CHECKING = False\n" in path.read_text(encoding="utf-8")
        if not (name := _name(path, source)).startswith("anyhook.agents.")
    }


def _with_private_modules() -> set[str]:
    """The modules that import one of Python's private modules, such as `_thread`."""
    source = Path(anyhook.__file__).parent
    private = re.compile(r"^ *(?:from|import) _(?!_)\w+", re.MULTILINE)
    return {_name(path, source) for path in source.rglob("*.py") if private.search(path.read_text(encoding="utf-8"))}


def _name(path: Path, source: Path) -> str:
    return ".".join(("anyhook", *path.relative_to(source).with_suffix("").parts)).removesuffix(".__init__")


PROCESSES = (
    "hooks.worker",
    "handlers.callable_host",
    "extra.warm.launched",
    "extra.warm.start",
    "extra.warm.zygote",
    "extra.warm.zygote_run",
)
"""Modules that begin a process, for a hook or the server, or that a call loads after its answer."""


def _loaded_by_calls(root: Path) -> set[str]:
    """What calls load that agents wait for: without hooks, with one of each kind, with several at once, with the guards
    on. Also a status that a prompt asks for again, and PROCESSES. None of them loads what would make lean modules
    pointless."""
    loaded: set[str] = set()
    fire, bridge = ("fire", "pre_tool", "--tool", "Bash", "--json"), ("bridge", "claude", "PreToolUse")
    packages = root / "packages"  # for the grammar of shell lines; its own name would make us look for agents there
    packages.symlink_to(Path(tree_sitter.__file__).parents[1])

    def call(world: World, *words: str, stdin: str = "") -> set[str]:
        status, modules, said = loaded_by(world, *words, stdin=stdin, packages=str(packages))
        assert status in (0, 2), said
        assert modules & {"typing", "json", "dataclasses"} == set(), (words, stdin)
        loaded.update(modules)
        return modules

    def bash(line: str, **more: str) -> str:
        return json.dumps({"session_id": "s", "tool_name": "Bash", "tool_input": {"command": line}, **more})

    nothing, one, several = World(root / "nothing"), World(root / "one"), World(root / "several")
    one.hook("kodik", "PreToolUse", "exit 2")
    for dialect in ("claude", "claude", "kodik"):
        several.hook(dialect, "PreToolUse", "true", name="it")
    several.hook("agenthooks", sample("agenthooks").event, "true")
    for world in (nothing, one, several):
        call(world, *fire)
        call(world, *bridge, stdin=bash("ls"))
    python = World(root / "python")
    python.module("guards", "def look(event):\n    return None\n", python.home)
    python.kolega("PreToolUse", {"type": "python", "callable": "guards:look"})
    functions = "from anyhook.hooks import before\n@before.run('ls')\ndef look(call):\n    pass\n"
    python.write(python.home / "config/anyhook/hooks.py", functions)
    call(python, *fire, "--input", '{"command": "ls"}')
    guarded = World(root / "guarded")
    guarded.command("add", "guard", "--yes")
    for line in ("ls", "npm test", "git push --force"):
        assert too_much(call(guarded, *bridge, stdin=bash(line, tool_use_id=line))) == set(), line
    for line in ("sed -n 1,20p *.py", "python3 run.py"):
        call(guarded, *bridge, stdin=bash(line))
    call(guarded, *bridge, stdin='{"session_id": "s", "tool_name": "mcp__a__b", "tool_input": {}}')
    call(guarded, "bridge", "qwen", "PreToolUse", stdin=bash("ls"))
    guarded.command("status")  # keeps what it prints
    call(guarded, "status")
    imports = "; ".join(f"import anyhook.{name}" for name in PROCESSES)
    script = f"import sys; sys.path.insert(0, {str(SOURCE.parent)!r}); {imports}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-S", "-c", script], capture_output=True, text=True, check=True)
    assert too_much({*done.stdout.split()}) == set()
    return loaded | {*done.stdout.split()}


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return _loaded_by_calls(tmp_path_factory.mktemp("cold"))


def test_only_what_a_cold_call_loads_is_lean(cold: set[str]) -> None:
    """All other modules are ordinary Python: they import types as usual, and no private C modules, which save time only
    where a call waits for it."""
    lean, private = _lean(), _with_private_modules()
    assert lean - cold == set()
    assert {name for name in private if not name.startswith("anyhook.agents.")} <= cold


def test_what_is_imported_anyway_is_imported_once() -> None:
    """A block for type checkers has only what is not loaded here otherwise. Where a module is imported anyway, types
    come with the rest; some of its names may be for type checkers only."""
    names = {_name(path, SOURCE): path for path in SOURCE.rglob("*.py")}
    twice: list[tuple[str, str]] = []
    for name, path in names.items():
        body = tree_of(path).body
        loaded = {node.module for node in body if isinstance(node, ast.ImportFrom)}
        for node in (inner for block in body if _is_for_types(block) for inner in ast.walk(block)):
            if isinstance(node, ast.ImportFrom) and node.module in loaded:
                bound = _bound(names[node.module]) if node.module in names else {each.name for each in node.names}
                twice += [(name, f"{node.module}.{each.name}") for each in node.names if each.name in bound]
    assert twice == []


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _bound(path: Path) -> set[str]:
    """The names that a module defines at run time."""
    defining = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in tree_of(path).body if not _is_for_types(node)]
    inside = [each for node in nodes if not isinstance(node, defining) for each in ast.walk(node)]
    stored = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
    return stored | {node.name for node in nodes if isinstance(node, defining)}


INSTALLED_WITH_US = {"yaml", "regex", "tree_sitter", "tree_sitter_bash", "click", "rich", "anyhook"}
FOR_EXTRAS = {
    "cli/web/server.py", "handlers/model_client.py", "journal/export_otlp.py",
    "journal/export_parquet.py",
}  # fmt: skip
"""The modules of the core that need an extra. They are loaded by the verbs that need them, and by nothing else."""


POSTPONED = {
    "cli.app": "what is said without a verb is loaded like a verb: 374, and most calls have a verb",
    "cli.known_words": "words for completion: 487, and most calls complete nothing",
    "documents.edit": "YAML: 97, and most files are JSON or TOML",
    "documents.locate": "YAML: 97",
    "engine.catalog": "a damaged package may not have it, and the hooks still count",
    "engine.hold": "HTTP: 97, and only with a hook of the user's that tells a phone",
    "extra.testing.pytest_plugin": "the test kit: 408, in each run of pytest where we are installed; pytest takes 510",
    "handlers.python": "asyncio: 153, and few callables are asynchronous",
    "platform.leftovers": "only POSIX has `resource`",
    "programs.tasks": "YAML: 97, and few tasks are those of a playbook",
    "programs.hiding": "the table of programs: 23, and most lines have no option for a password",
    "replay.warm_worker": "it runs in the hook's interpreter, which may not be ours",
}
"""Modules that no cold call loads, that import in functions, and why. The figures are millions of instructions; a bare
interpreter start takes 28."""


def test_imports_in_functions_have_a_reason(cold: set[str]) -> None:
    """A module that a cold call loads may postpone what most calls do not need; any other only an extra's packages, or
    for a reason. Agents' tables are loaded by the calls of their agents."""
    found: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        name = _name(path, SOURCE)
        if name in cold or name.startswith("anyhook.agents."):
            continue
        functions = [node for node in nodes_of(path) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
        inside = {target for function in functions for node in ast.walk(function) for target in _imported(node)}
        if inside := {target for target in inside if not _is_for_an_extra(target)}:
            found[name.removeprefix("anyhook.")] = inside
    assert found.keys() - POSTPONED.keys() == set(), found
    assert POSTPONED.keys() - found.keys() == set()


CYCLES_LEFT = {"cli.render", "programs.loose", "rules.paths", "tables.registry"}
"""Modules that still import one in a function that imports them at its top. There should be none."""


def test_no_import_in_a_function_stands_for_a_cycle() -> None:
    """Two modules that need each other are one thing, or something is in the wrong one of them."""
    names = {_name(path, SOURCE): path for path in SOURCE.rglob("*.py")}
    at_top = {name: _of_ours(tree_of(path).body, names) for name, path in names.items()}

    def reached_from(start: str) -> set[str]:
        reached, left = set[str](), [start]
        while left:
            left += (fresh := at_top[left.pop()] - reached)
            reached |= fresh
        return reached

    found = {
        name.removeprefix("anyhook."): target
        for name, path in names.items()
        for node in nodes_of(path)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for target in _of_ours([*ast.walk(node)], names)
        if name in reached_from(target)
    }
    assert set(found) == CYCLES_LEFT, found


def _of_ours(nodes: Sequence[ast.AST], names: Collection[str]) -> set[str]:
    """Our modules that these statements import."""
    found: set[str] = set()
    for node in nodes:
        for target in _imported(node):
            more = [f"{target}.{each.name}" for each in node.names] if isinstance(node, ast.ImportFrom) else []
            found |= {each for each in more if each in names} or ({target} & {*names})
    return found


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def _is_for_an_extra(target: str) -> bool:
    ours = f"{target.removeprefix('anyhook.').replace('.', '/')}.py" in FOR_EXTRAS
    return ours or target.partition(".")[0] not in INSTALLED_WITH_US | sys.stdlib_module_names


def test_the_core_needs_only_what_is_installed_with_it() -> None:
    needing: dict[str, set[str]] = {}
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).as_posix()
        for node in ast.parse(path.read_text()).body if not name.startswith(("extra/", "adapters/")) else ():
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            tops = {each.partition(".")[0] for each in names} - INSTALLED_WITH_US - sys.stdlib_module_names
            if tops:
                needing.setdefault(name, set()).update(tops)
    assert set(needing) == FOR_EXTRAS, needing


def test_a_module_for_an_extra_is_loaded_only_when_it_is_needed() -> None:
    modules = {f"anyhook.{name.removesuffix('.py').replace('/', '.')}" for name in FOR_EXTRAS}
    found = [
        f"{path.relative_to(SOURCE)}: {node.module}"
        for path in SOURCE.rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ImportFrom) and node.module in modules
    ]
    assert [each for each in found if not each.startswith("extra/")] == []


def test_no_agent_imports_a_word_of_the_vocabulary() -> None:
    """An agent's file takes all words of the vocabulary, after what it imports by name: a word with the same name would
    silently take that one's place."""
    imported = {
        f"{path.name}: {alias.asname or alias.name}"
        for path in sorted((SOURCE / "agents").rglob("*.py"))
        if any(isinstance(node, ast.alias) and node.name == "*" for node in nodes_of(path))
        for node in tree_of(path).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if (alias.asname or alias.name) in vocabulary.__all__
    }
    assert imported == set()
