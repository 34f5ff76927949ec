"""Only `platform/` starts a process, takes a lock, or reads `/proc`. The warm server does it too: what it does is
listed here, and the list may only get shorter: a line that is no longer needed fails the test too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from sources import SOURCE, nodes_of

HOME = "platform/"
STARTERS = re.compile(
    r"os\.(fork|forkpty|posix_spawnp?|system|popen|exec[lv]\w*|spawn[lv]\w*)|(subprocess|pty|multiprocessing|"
    r"_posixsubprocess)(\..*)?|concurrent\.futures\.ProcessPoolExecutor|asyncio\.create_subprocess_\w+"
)
LOCKS = re.compile(r"fcntl\.(flock|lockf)|msvcrt\.locking")
WARM = {
    "extra/warm/client.py": {"/proc"},
    "extra/warm/likeness.py": {"/proc"},
    "extra/warm/place.py": {"/proc"},
    "extra/warm/server.py": {"process", "/proc"},
    "extra/warm/start.py": {"process", "lock", "/proc"},
    "extra/warm/warm_python.py": {"process", "lock"},
    "extra/warm/zygote.py": {"process", "lock", "/proc"},
    "extra/warm/zygote_run.py": {"process", "/proc"},
}
"""What the warm server still does: its work is to keep processes."""
SPOKEN_OF = {"guard/guard.py", "programs/named.py", "programs/paths.py", "programs/statements.py", "replay/trial.py"}
"""These contain `/proc` as a word of somebody's command line, and do not read it."""


def _imported(nodes: tuple[ast.AST, ...]) -> dict[str, str]:
    """Name in the module → what it stands for, without the imports for type checkers."""
    typed = {
        id(inner)
        for node in nodes
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    names: dict[str, str] = {}
    for node in nodes:
        if id(node) in typed or not isinstance(node, (ast.Import, ast.ImportFrom)):
            continue
        for alias in node.names:
            whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            bound = alias.asname or (alias.name if isinstance(node, ast.ImportFrom) else alias.name.partition(".")[0])
            names[bound] = whole if isinstance(node, ast.ImportFrom) or alias.asname else bound
    return names


def _dotted(node: ast.AST, names: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return names.get(node.id, "")
    if isinstance(node, ast.Attribute) and (base := _dotted(node.value, names)):
        return f"{base}.{node.attr}"
    return ""


def mechanisms(nodes: tuple[ast.AST, ...]) -> Iterator[tuple[str, int]]:
    """What a module does that belongs to the platform, and the line."""
    names = _imported(nodes)
    for node in nodes:
        if isinstance(node, (ast.Name, ast.Attribute)):
            name = _dotted(node, names)
            if STARTERS.fullmatch(name):
                yield "process", node.lineno
            if LOCKS.fullmatch(name):
                yield "lock", node.lineno
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.match(r"/proc(/|$)", node.value):
            yield "/proc", node.lineno


def found() -> dict[str, dict[str, int]]:
    """Module outside the platform → mechanism → a line of it."""
    rows: dict[str, dict[str, int]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = str(path.relative_to(SOURCE))
        done = {} if name.startswith(HOME) else dict(mechanisms(nodes_of(path)))
        if name in SPOKEN_OF:
            assert done.pop("/proc", 0), f"{name} no longer speaks of /proc: take it off the list"
        if done:
            rows[name] = done
    return rows


def test_only_the_platform_deals_with_the_system() -> None:
    rows = found()
    new = [
        f"{name}:{line}: {kind}"
        for name, kinds in rows.items()
        for kind, line in kinds.items()
        if kind not in WARM.get(name, set())
    ]
    assert new == [], "starting processes, locks and /proc belong to anyhook/platform"


def test_the_lists_only_get_shorter() -> None:
    rows = found()
    gone = [
        f"{name}: {kind}" for name, kinds in WARM.items() for kind in sorted(kinds) if kind not in rows.get(name, {})
    ]
    assert gone == [], "take these off the list in this file"
    assert all(name.startswith("extra/warm/") for name in WARM)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("import subprocess\nsubprocess.run(['a'])", "process"),
        ("from subprocess import run as go\ngo(['a'])", "process"),
        ("import os\ndef f():\n    os.fork()", "process"),
        ("from os import posix_spawn\nposix_spawn('a', [], {})", "process"),
        ("import os\nos.execve('a', [], {})", "process"),
        ("import pty\npty.spawn([])", "process"),
        ("import multiprocessing.pool\nmultiprocessing.pool.Pool()", "process"),
        ("from multiprocessing import get_context\nget_context()", "process"),
        ("import asyncio\nasyncio.create_subprocess_exec('a')", "process"),
        ("import fcntl\nfcntl.flock(1, 2)", "lock"),
        ("from fcntl import lockf\nlockf(1, 2)", "lock"),
        ("open(f'/proc/{1}/stat')", "/proc"),
    ],
)
def test_the_check_sees(text: str, kind: str) -> None:
    assert {each for each, _ in mechanisms((*ast.walk(ast.parse(text)),))} == {kind}


@pytest.mark.parametrize(
    "text",
    [
        "if TYPE_CHECKING:\n    from subprocess import Popen\ndef f(a: Popen[bytes]): ...",
        "import fcntl\nfcntl.fcntl(1, 2)",
        "import os\nos.kill(1, 0)",
        "'''/procedures'''",
    ],
)
def test_the_check_leaves_the_rest_alone(text: str) -> None:
    assert list(mechanisms((*ast.walk(ast.parse(text)),))) == []
