"""Hostile files and hostile hooks. Whatever replaces a hook file, and whatever a hook prints, time and memory stay
bounded, anyhook reports a clear problem, and the other hooks still work."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from anyhook.tables.registry import sample
from anyhook.tables.sample_rows import REASON
from command import run

if TYPE_CHECKING:
    from collections.abc import Callable

    from anyhook.model.json_types import Json
    from conftest import World

    Object = dict[str, Json]

MEMORY_LIMIT = 1 << 30
LARGE = 50 * 1024 * 1024

OLDEST = ("kode", "kodik", "agenthooks", "kolega", "kodelet")
"""The dialects whose files these tests damage."""

CONFIGS = {
    "kode": ".kode/config.yaml",
    "kodik": ".kodik/hooks/hooks.json",
    "kodik-toml": ".kodik/hooks/hooks.toml",
    "agenthooks": ".agents/hooks/bad/HOOK.md",
    "kolega": ".kolega/hooks.json",
    "kodelet": ".kodelet/hooks/bad",
}
"""Where a project declares hooks."""


def calls(world: World, *lines: list[str]) -> list[tuple[int, Object]]:
    """Run several calls with --json, in bounded memory and time. Returns the status and the answer of each."""
    answers = []
    for words in lines:
        done = run([*words, "--json"], env=world.env, cwd=world.project, safe=True, memory=MEMORY_LIMIT)
        assert b"Traceback" not in done.stderr, done.stderr.decode()
        assert done.stdout, done.stderr[-2000:]
        answers.append((done.returncode, cast("Object", json.loads(done.stdout))))
    return answers


def fire(dialect: str, *more: str) -> list[str]:
    words = ["fire", "pre_tool", "--tool", "Shell", "--input", '{"command": "ls"}', "--trust", "all"]
    return [*words, "--dialect", dialect, *more]


def named(answer: Object, path: Path) -> list[Object]:
    """The problems about a path."""
    problems = cast("list[Object]", answer["problems"])
    return [problem for problem in problems if str(problem["where"]).startswith(str(path))]


def assert_unharmed(world: World, dialect: str, bad: Path) -> None:
    """Check that the good hook blocks, and that every verb names the bad file with a cause and a fix."""
    (fired, fire_answer), (listed, list_answer), (checked, check_answer) = calls(
        world, fire(dialect), ["list", "--dialect", dialect], ["check", "--dialect", dialect]
    )
    assert (fired, listed, checked) == (2, 0, 1)
    assert fire_answer["verdict"] == "block"
    assert REASON in str(fire_answer["reason"])
    assert any(hook["scope"] == "user" for hook in cast("list[Object]", list_answer["hooks"]))
    for answer in (fire_answer, list_answer, check_answer):
        found = named(answer, bad)
        assert found, answer["problems"]
        for problem in found:
            assert all(problem[field] for field in ("code", "what", "why", "fix"))
            assert len(json.dumps(problem)) < 5_000


def good_hook(world: World, dialect: str) -> None:
    world.hook(dialect, sample(dialect).event, sample(dialect).script, "user", "good")


# -- things that are not files


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def folder(path: Path) -> None:
    (path / "inside").mkdir(parents=True)


def unix_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # socket addresses must be short
    try:
        socket.socket(socket.AF_UNIX).bind(path.name)
    finally:
        os.chdir(here)


def dangling(path: Path) -> None:
    path.symlink_to("nowhere")


def circle(path: Path) -> None:
    path.symlink_to(path.name)


def large(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(LARGE)


THINGS: list[Callable[[Path], None]] = [fifo, endless_device, folder, unix_socket, dangling, circle, large]


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", THINGS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("place", [place for place in CONFIGS if place != "kodelet"])
def test_no_file_in_place_of_a_hook_file(world: World, place: str, make: Callable[[Path], None]) -> None:
    dialect = place.removesuffix("-toml")
    good_hook(world, dialect)
    path = world.project / CONFIGS[place]
    path.parent.mkdir(parents=True)
    make(path)
    assert_unharmed(world, dialect, path)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
def test_no_files_among_executables(world: World) -> None:
    """Folders, pipes and sockets are not hooks. A link or a large file may be meant as one."""
    good_hook(world, "kodelet")
    bad = world.project / ".kodelet" / "hooks"
    bad.mkdir(parents=True)
    for make in THINGS:
        make(bad / make.__name__)
    (bad / "large").chmod(0o755)
    assert_unharmed(world, "kodelet", bad)
    ((_, answer),) = calls(world, ["check", "--dialect", "kodelet"])
    names = {str(problem["where"]).rpartition("/")[2] for problem in named(answer, bad)}
    assert {"endless_device", "dangling", "circle"} <= names


GROUP = {"PreToolUse": [{"hooks": [{"type": "command", "command": "./bad"}]}]}
SCRIPTS = {
    "kode": ("bad", {".kode/config.yaml": '{"hooks": {"tool_call_pre": [{"exec": "./bad"}]}}'}),
    "kodik": ("bad", {CONFIGS["kodik"]: json.dumps({"hooks": GROUP})}),
    "kolega": ("bad", {CONFIGS["kolega"]: json.dumps({"schema_version": 1, "hooks": GROUP})}),
    "agenthooks": (
        ".agents/hooks/bad/scripts/run",
        {CONFIGS["agenthooks"]: "---\nname: bad\ndescription: x\ntrigger: before_tool\n---\n"},
    ),
}
"""Where a project's script is, and the file that declares it."""


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("make", THINGS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("dialect", ["kodik", "agenthooks", "kolega"])
def test_no_file_in_place_of_a_script(world: World, dialect: str, make: Callable[[Path], None]) -> None:
    good_hook(world, dialect)
    script, files = SCRIPTS[dialect]
    for name, text in files.items():
        world.write(world.project / name, text)
    path = world.project / script
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    if make is large:
        path.chmod(0o755)
    (fired, answer), (checked, check_answer) = calls(world, fire(dialect), ["check", "--dialect", dialect])
    assert (fired, answer["verdict"]) == (2, "block")
    assert REASON in str(answer["reason"])
    (declared,) = [world.project / name for name in files]
    if make is not large:  # a file of zeros may be a program
        assert checked == 1
        assert named(check_answer, declared)


@pytest.mark.parametrize("make", [fifo, folder, dangling], ids=lambda make: make.__name__)
def test_a_fail_closed_dialect_blocks_where_its_script_is_no_file(world: World, make: Callable[[Path], None]) -> None:
    script, files = SCRIPTS["kode"]
    for name, text in files.items():
        world.write(world.project / name, text)
    make(world.project / script)
    (fired, answer), (checked, _) = calls(world, fire("kode"), ["check", "--dialect", "kode"])
    assert (fired, answer["verdict"], checked) == (2, "block", 1)


# -- documents

NESTED = 100_000
DOCUMENTS: dict[str, tuple[str, bytes]] = {
    "json brackets": ("json", b'{"hooks": ' + b"[" * NESTED),
    "json closed brackets": ("json", b'{"hooks": ' + b"[" * NESTED + b"]" * NESTED + b"}"),
    "json objects": ("json", b'{"a":' * NESTED),
    "json long number": ("json", b'{"schema_version": 1, "hooks": ' + b"9" * 1_000_000 + b"}"),
    "json endless number": ("json", b'{"schema_version": 1e999, "hooks": {}}'),
    "json half a pair": ("json", b'{"schema_version": 1, "hooks": {"\\ud800": []}}'),
    "json wrong": ("json", b'{"schema_version": 1, "hooks": {"Stop": [1, null, [], {}, {"hooks": [1]}], "x": 1}}'),
    "json not utf-8": ("json", b'{"hooks": "\xff\xfe"}'),
    "json utf-16": ("json", '{"hooks": {}}'.encode("utf-16")),
    "json zeros": ("json", b"\0" * 1000),
    "yaml flow": ("yaml", b"hooks: " + b"[" * NESTED),
    "yaml blocks": ("yaml", b"\n".join(b" " * depth + b"a:" for depth in range(2_000))),
    "yaml dashes": ("yaml", b"- " * NESTED),
    "yaml aliases": (
        "yaml",
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (98 + n, 98 + n, b",".join([b"*%c" % (97 + n)] * 9)) for n in range(12))
        + b"hooks: *m\n",
    ),
    "yaml itself": ("yaml", b"hooks: &a\n  tool_call_pre: *a\n"),
    "yaml python": ("yaml", b"hooks: !!python/object/apply:os.system ['touch owned']\n"),
    "yaml repeated key": ("yaml", b"name: a\nname: b\n"),
    "toml brackets": ("toml", b"hooks = " + b"[" * NESTED),
    "toml parts": ("toml", b".".join([b"a"] * NESTED) + b" = 1"),
    "toml tables": ("toml", b"hooks = " + b"{a=" * NESTED),
}
SYNTAXES = {
    "kode": ("yaml", "json"),
    "kodik": ("json",),
    "kodik-toml": ("toml",),
    "kolega": ("json",),
    "agenthooks": ("yaml",),
}


@pytest.mark.parametrize("place", SYNTAXES)
def test_documents_meant_to_hurt(world: World, place: str) -> None:
    dialect = place.removesuffix("-toml")
    good_hook(world, dialect)
    path = world.project / CONFIGS[place]
    for data in [data for syntax, data in DOCUMENTS.values() if syntax in SYNTAXES[place]]:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"---\n" + data + b"\n---\n" if dialect == "agenthooks" else data)
        assert_unharmed(world, dialect, path)
    assert not (world.project / "owned").exists()


def test_a_front_matter_without_an_end(world: World) -> None:
    good_hook(world, "agenthooks")
    path = world.write(world.project / CONFIGS["agenthooks"], "---\n" + "a: b\n" * 100_000)
    assert_unharmed(world, "agenthooks", path)


@pytest.mark.parametrize("dialect", ["kodik", "kolega"])
def test_patterns_that_never_end(world: World, dialect: str) -> None:
    """Such a pattern is aborted. Its hook counts as a broken hook of its dialect, and the other hooks run."""
    good_hook(world, dialect)
    bad = {"matcher": "(a+)+$|(.*a){20}$|(a|aa)+$", "hooks": [{"type": "command", "command": "true"}]}
    huge = {"matcher": "((((((x{99}){99}){99}){99}){99}){99})", "hooks": [{"type": "command", "command": "true"}]}
    document = {"schema_version": 1, "hooks": {"PreToolUse": [bad, huge]}}
    path = world.write(world.project / CONFIGS[dialect], json.dumps(document))
    words = fire(dialect)
    words[words.index("Shell")] = "a" * 5_000 + "!"
    (fired, answer), (checked, check_answer) = calls(world, words, ["check", "--dialect", dialect])
    assert (fired, answer["verdict"]) == (2, "block")
    assert REASON in str(answer["reason"])
    assert checked == 1
    assert "invalid-matcher" in [problem["code"] for problem in named(check_answer, path)]


def test_very_many_entries(world: World) -> None:
    good_hook(world, "kolega")
    handlers = [{"type": "command", "command": f"true {number}", "nope": 1} for number in range(2_000)]
    document = {"schema_version": 1, "hooks": {"PreToolUse": [{"matcher": "x", "hooks": [each]} for each in handlers]}}
    path = world.write(world.project / CONFIGS["kolega"], json.dumps(document))
    (fired, answer), (checked, _) = calls(world, fire("kolega"), ["check", "--dialect", "kolega"])
    assert (fired, checked) == (2, 0)
    assert 100 <= len(named(answer, path)) <= 110
    assert "more-problems" in {problem["code"] for problem in named(answer, path)}


# -- our own files

OWN = {
    "config": "config/anyhook/config.toml",
    "ledger": "state/anyhook/trust.json",
    "switches": "state/anyhook/switches.json",
    "native settings": "state/kolega-code/settings.json",
}


@pytest.mark.parametrize("make", [fifo, folder, endless_device, circle], ids=lambda make: make.__name__)
@pytest.mark.parametrize("place", OWN)
def test_no_file_in_place_of_our_own(world: World, place: str, make: Callable[[Path], None]) -> None:
    good_hook(world, "kolega")
    world.hook("kodelet", "agent_stop", "true")
    path = world.home / OWN[place]
    path.parent.mkdir(parents=True, exist_ok=True)
    make(path)
    (fired, answer), (listed, _) = calls(world, ["fire", "PreToolUse", "--tool", "x", "--trust", "native"], ["list"])
    assert (fired, answer["verdict"], listed) == (2, "block", 0)


@pytest.mark.parametrize("make", [fifo, folder, endless_device, circle], ids=lambda make: make.__name__)
def test_nothing_that_we_wrote_ourselves_is_a_file(world: World, make: Callable[[Path], None]) -> None:
    """Whatever replaces our plans, notes and journal, a bridge answers as if they did not exist, and does not hang."""
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2", scope="user")
    payload = {"session_id": "s", "cwd": str(world.project), "tool_name": "Bash", "tool_input": {"command": "ls"}}
    said = []
    for turn in ("1", "2"):
        done = world.command("bridge", "claude", "PreToolUse", stdin=json.dumps({**payload, "tool_use_id": turn}))
        said.append(json.loads(done.stdout)["hookSpecificOutput"])
        kept = [path for path in (world.home / "state/anyhook").rglob("*") if not path.is_dir()]
        assert turn == "2" or len(kept) > 2
        for path in kept:
            path.unlink()
            make(path)
    assert said[0] == said[1]
    assert said[0]["permissionDecision"] == "deny"


# -- what hooks print

SAYINGS = {
    "nested": "python3 -c \"print('[' * 200000)\"",
    "nested object": 'python3 -c "print(\'{\\"a\\":\' * 200000)"',
    "long number": "python3 -c \"print('{\\\"decision\\\": ' + '9' * 1000000 + '}')\"",
    "zeros": "head -c 100000 /dev/zero",
    "noise": "head -c 100000 /dev/urandom",
    "half a pair": """printf '{"reason": "\\\\ud800", "decision": 1, "blocked": "x"}'""",
    "wrong types": """printf '{"reason": [], "decision": {}, "hookSpecificOutput": 3, "input": 1, "block": null}'""",
    "endless": "cat /dev/zero",
}


@pytest.mark.parametrize("dialect", OLDEST)
def test_answers_meant_to_hurt(world: World, dialect: str) -> None:
    """Each answer comes from a hook that runs before the good one. The good hook still blocks."""
    native = sample(dialect).event
    for name, saying in SAYINGS.items():
        if name != "endless" or dialect in ("kodik", "agenthooks"):
            more: Object = {"priority": 999} if dialect == "agenthooks" else {}
            world.hook(dialect, native, saying, "user", f"a-{name.replace(' ', '-')}", **more)
    good_hook(world, dialect)
    ((status, answer),) = calls(world, fire(dialect, "--on-failure", "allow"))
    assert (status, answer["verdict"]) == (2, "block")
    assert REASON in str(answer["reason"])
    hooks = cast("list[Object]", answer["hooks"])
    assert len(hooks) == len(SAYINGS) + (dialect in ("kodik", "agenthooks"))
    assert {hook["status"] for hook in hooks} == {"ran"}


@pytest.mark.parametrize("dialect", ["kodik", "kolega"])
def test_documents_made_of_unknown_words(world: World, dialect: str) -> None:
    """Very many unknown keys, and very long ones, are handled quickly. Some are reported, the rest are counted."""
    good_hook(world, dialect)
    keys: Object = {f"PreToolUze{number}": [{}] for number in range(30_000)}
    document: Object = {"schema_version": 1, "hooks": {"x" * 100_000: [{}], **keys}, "y" * 100_000: 1}
    path = world.write(world.project / CONFIGS[dialect], json.dumps(document))
    assert path.stat().st_size < 1_048_576
    assert_unharmed(world, dialect, path)


def test_a_front_matter_made_of_unknown_words(world: World) -> None:
    good_hook(world, "agenthooks")
    fields = "".join(f"triggor{number}: x\n" for number in range(20_000))
    text = f"---\nname: it\ndescription: x\ntrigger: before_tool\n{fields}---\n"
    path = world.write(world.project / CONFIGS["agenthooks"], text)
    world.write(path.parent / "scripts" / "run", "", 0o755)
    assert_unharmed(world, "agenthooks", path)
