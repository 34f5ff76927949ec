"""`anyhook check` as a command: what it finds, which place it reports, what it prints, and that it starts nothing."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
from jsonschema import Draft202012Validator

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conftest import World

    Found = list[dict[str, str]]

SCHEMA = Path(__file__).parent.parent / "data" / "sarif-schema-2.1.0.json"


def check(world: World, *words: str, status: int | None = None) -> Found:
    done = world.command("check", "--format", "json", *words)
    assert done.stderr == "", done.stderr
    problems = cast("Found", json.loads(done.stdout)["problems"])
    errors = any(problem["severity"] == "error" for problem in problems)
    assert done.returncode == (1 if errors else 0) if status is None else done.returncode == status, problems
    for problem in problems:
        assert problem.keys() == {"code", "what", "where", "why", "fix", "severity"}
        assert all(problem.values()), problem
    return problems


def codes(problems: Found) -> list[str]:
    return sorted(problem["code"] for problem in problems)


def one(problems: Found, code: str) -> dict[str, str]:
    (found,) = [problem for problem in problems if problem["code"] == code]
    return found


def kode(world: World, text: str) -> Path:
    return world.write(world.project / ".kode" / "config.yaml", text)


def kolega(world: World, event: str, *handlers: object, matcher: str = "*") -> Path:
    document = {"schema_version": 1, "hooks": {event: [{"matcher": matcher, "hooks": list(handlers)}]}}
    return world.write(world.project / ".kolega" / "hooks.json", json.dumps(document, indent=1))


def kodik(world: World, event: str, entry: object) -> Path:
    return world.write(world.project / ".kodik" / "hooks" / "hooks.json", json.dumps({"hooks": {event: [entry]}}))


def agenthook(
    world: World, front: str, script: str | None = "#!/bin/sh\n", mode: int = 0o755, name: str = "it"
) -> Path:
    folder = world.project / ".agents" / "hooks" / name
    if script is not None:
        world.write(folder / "scripts" / "run", script, mode)
    text = front if "name:" in front else f"name: {name}\ndescription: A test.\ntrigger: before_tool\n{front}"
    return world.write(folder / "HOOK.md", f"---\n{text}\n---\n")


def command(text: str, **more: object) -> dict[str, object]:
    return {"type": "command", "command": text, **more}


def by_entry(world: World, entries: Sequence[tuple[str, object]], dialect: str = "kolega") -> list[list[str]]:
    """The problem codes of each entry of one file. Every entry has its own line, so the line identifies it."""
    events: dict[str, list[tuple[int, str]]] = {}
    for number, (event, entry) in enumerate(entries):
        events.setdefault(event, []).append((number, json.dumps(entry)))
    lines, numbers = ['{"schema_version": 1, "hooks": {' if dialect == "kolega" else '{"hooks": {'], [-1]
    for place, (event, listed) in enumerate(events.items()):
        lines.append(f'{"," if place else ""}"{event}": [')
        numbers.append(-1)
        for index, (number, text) in enumerate(listed):
            lines.append(f"{text}{'' if index == len(listed) - 1 else ','}")
            numbers.append(number)
        lines.append("]")
        numbers.append(-1)
    folder = world.project / (".kolega" if dialect == "kolega" else ".kodik/hooks")
    world.write(folder / "hooks.json", "\n".join([*lines, "}}"]))
    found: list[list[str]] = [[] for _ in entries]
    for problem in check(world):
        found[numbers[int(problem["where"].rpartition(":")[2]) - 1]].append(problem["code"])
    return found


# -- the verb itself


@pytest.mark.parametrize("dialect", ["kode", "kodik", "agenthooks", "kolega", "kodelet"])
def test_sound_hooks_have_no_problems(world: World, dialect: str) -> None:
    named = {"kode": "tool_call_pre", "agenthooks": "before_tool", "kodelet": "before_tool_call"}
    native = named.get(dialect, "PreToolUse")
    for scope in ("user", "project"):
        world.hook(dialect, native, f"touch started-{scope}", scope, name=scope)
    if dialect == "kode":  # the project's list replaces the user's, and check reports that
        assert codes(check(world)) == ["overridden"]
    else:
        assert check(world) == []
        assert world.command("check").stdout == "2 hook files read, no problems.\n"
    assert not list(world.project.glob("started-*"))
    assert not world.state.exists() or not list(world.state.glob("*.json*"))


def test_nothing_at_all(world: World) -> None:
    assert world.command("check").stdout == "0 hook files read, no problems.\n"


def test_text_groups_by_file_and_counts(world: World) -> None:
    kolega(world, "PreToolUse", {"type": "webhook", "url": "x"}, command("true", timeout=5000))
    kode(world, "hooks:\n  tool_call_prE: [{command: [x]}]\n")
    done = world.command("check")
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert [line for line in lines if line and not line.startswith(" ")] == [
        ".kode/config.yaml",
        ".kolega/hooks.json",
        "2 hook files read: 2 errors, 1 warning.",
    ]
    assert any(line.startswith("  error: line 2: `tool_call_prE` is not an event here") for line in lines)
    assert any("Did you mean `tool_call_pre`?" in line for line in lines)
    assert sum(line.startswith("      fix: ") for line in lines) == 3


def test_warnings_alone_leave_with_status_0(world: World) -> None:
    kolega(world, "PreToolUse", command("true", colour="red"))
    assert codes(check(world, status=0)) == ["unknown-key"]


def test_sarif(world: World) -> None:
    kolega(world, "PreToolUse", {"type": "webhook"})
    done = world.command("check", "--format", "sarif")
    assert done.returncode == 1
    log = json.loads(done.stdout)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(log)
    (result,) = log["runs"][0]["results"]
    assert result["ruleId"] == "unknown-handler"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == ".kolega/hooks.json"
    assert place["region"]["startLine"] > 1


BAD_CALLS = [["--format", "xml"], ["--dialect", "nobody"], ["--project", "not-there"], ["--wrong"]]


@pytest.mark.parametrize("words", BAD_CALLS)
def test_bad_calls(world: World, words: list[str]) -> None:
    done = world.command("check", *words)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr
    assert "Traceback" not in done.stderr


# -- problems in files and entries


def test_files_that_do_not_parse_have_a_line(world: World) -> None:
    world.write(world.project / ".kolega" / "hooks.json", '{"schema_version": 1,\n "hooks": {,}}')
    world.write(world.project / ".kodik" / "hooks" / "hooks.toml", '[hooks]\nx = "a\n')
    kode(world, "hooks:\n\t- x\n")
    problems = check(world, status=1)
    assert codes(problems) == ["invalid-json", "invalid-toml", "invalid-yaml"]
    for problem in problems:
        assert problem["where"].endswith(":2"), problem


def test_values_that_are_mended_at_run_time_are_errors_here(world: World) -> None:
    agenthook(world, "timeout: 700000\npriority: 2000")
    listed = json.loads(world.command("list", "--json").stdout)
    assert (listed["hooks"][0]["limit_ms"], listed["hooks"][0]["priority"]) == (600_000, 1000)
    assert codes(check(world, status=1)) == ["wrong-limit", "wrong-value"]


def test_a_backslash_between_double_quotes(world: World) -> None:
    path = agenthook(world, 'matcher:\n  pattern: "\\.py$"')
    found = one(check(world, status=0), "yaml-backslash")
    assert found["where"] == f"{path}:6"


@pytest.mark.parametrize(("quote", "wrong"), [('"', True), ("'", False)])
def test_a_word_boundary_that_is_a_backspace(world: World, quote: str, wrong: bool) -> None:
    path = agenthook(world, f"matcher:\n  pattern: {quote}\\brm\\b{quote}")
    found = [(each["code"], each["where"]) for each in check(world, status=0)]
    assert found == ([("yaml-backslash", f"{path}:5")] if wrong else [])


def test_two_files_and_equal_names(world: World) -> None:
    kodik(world, "Stop", {"hooks": [command("true")]})
    world.write(world.project / ".kodik" / "hooks" / "hooks.toml", "")
    agenthook(world, "name: same\ndescription: x\ntrigger: before_tool", name="a")
    agenthook(world, "name: same\ndescription: x\ntrigger: before_tool", name="b")
    world.hook("kodelet", "agent_stop", ":", "user", "guard")
    world.hook("kodelet", "agent_stop", ":", "project", "guard")
    assert codes(check(world, status=0)) == ["overridden", "same-name", "two-hook-files"]


def test_an_untrusted_project_is_read_and_its_overrides_are_shown(world: World) -> None:
    world.hook("kode", "tool_call_pre", "true")
    world.hook("kode", "tool_call_pre", "true", "project")
    found = one(check(world, status=0), "overridden")
    assert found["where"].startswith(str(world.home))
    assert str(world.project) in found["why"]


def test_an_async_gate(world: World) -> None:
    agenthook(world, "async: true")
    assert codes(check(world, status=0)) == ["async-gate"]


MATCHERS = [
    ("PreToolUse", "(", "invalid-matcher"),
    ("PreToolUse", "Edit, Write", "matcher-never-matches"),
    ("PreToolUse", "/Edit/", "matcher-never-matches"),
    ("SessionStart", "Startup", "matcher-never-matches"),
    ("PreCompact", "automatic", "matcher-never-matches"),
    ("Stop", "Edit", "matcher-never-matches"),
    ("PreToolUse", "Bash", "matcher-elsewhere"),
    ("PreToolUse", "create_file|Write", None),
    ("PreToolUse", "a_tool_of_mine", None),
    ("PreToolUse", "mcp__.*", None),
    ("SessionStart", "startup", None),
    ("SessionStart", "start.*", None),
    ("PreCompact", "auto|manual", None),
    ("Stop", "*", None),
]


def test_matchers(world: World) -> None:
    entries = [(event, {"matcher": matcher, "hooks": [command("true")]}) for event, matcher, _ in MATCHERS]
    assert by_entry(world, entries) == [([code] if code else []) for _, _, code in MATCHERS]


def test_a_matcher_that_is_ignored(world: World) -> None:
    kodik(world, "Stop", {"matcher": "Bash", "hooks": [command("true")]})
    assert codes(check(world, status=0)) == ["matcher-ignored"]


def test_searched_matchers(world: World) -> None:
    agenthook(world, "matcher:\n  tool: /Shell/", name="slashes")
    agenthook(world, "matcher:\n  tool: Shell|", name="anything")
    agenthook(world, "name: never\ndescription: x\ntrigger: session_start\nmatcher:\n  tool: Shell", name="never")
    problems = check(world, status=0)
    assert codes(problems) == ["matcher-never-matches"] * 2
    assert not any("anything" in problem["where"] for problem in problems)


def test_the_same_words_twice(world: World) -> None:
    kolega(world, "Stop", command("true"), command("true"), command("true", timeout=5))
    assert codes(check(world, status=0)) == ["duplicate-hook"]


def test_packs_that_are_on_in_both_scopes_are_one_warning(world: World) -> None:
    for words in (
        ("add", "git", "--yes"),
        ("add", "outside", "--yes"),
        ("add", "guard", "--scope", "project", "--yes"),
    ):
        assert world.command(*words).returncode == 0
    (problem,) = check(world, status=0)
    assert problem["what"] == "these packs are on in two scopes, user and project: git, outside"
    assert world.command("check", "--format", "sarif").returncode == 0


@pytest.mark.parametrize(("limit", "wrong"), [(5, True), (60, True), (100, False), (5000, False)])
def test_milliseconds_that_look_like_seconds(world: World, limit: int, wrong: bool) -> None:
    kode(world, f"hooks:\n  session_end:\n    - exec: 'true'\n      timeout_ms: {limit}\n")
    problems = check(world, status=0)
    assert codes(problems) == (["wrong-unit"] if wrong else [])
    assert not wrong or f"{limit * 1000}" in problems[0]["fix"]


@pytest.mark.parametrize(("limit", "wrong"), [(30_000, True), (1000, True), (600, False), (0.5, False)])
def test_seconds_that_look_like_milliseconds(world: World, limit: float, wrong: bool) -> None:
    kolega(world, "Stop", command("true", timeout=limit))
    assert codes(check(world, status=0)) == (["wrong-unit"] if wrong else [])


# -- commands


PLAIN = [
    ("no-such-program-here", "program-missing"),
    ("./gone.sh", "program-missing"),
    ("/gone/for/good", "program-missing"),
    ("~/guard.sh", "program-missing"),
    ("./.kolega", "program-missing"),
    ("sh gone.sh", "program-missing"),
    ("python3 scripts/gone.py", "program-missing"),
    ("env A=1 no-such-program-here", "program-missing"),
    ("sh -c 'no-such-program-here --x'", "program-missing"),
    ("sh -c './gone.sh && true'", "program-missing"),
    ("./plain.sh", "not-executable"),
    ("./no-first-line", "bad-first-line"),
    ("./empty", "bad-first-line"),
    ("./crlf.sh", "bad-first-line"),
    ("sh crlf.sh", "bad-first-line"),
    ("./no-interpreter", "bad-first-line"),
    ("./env-missing", "bad-first-line"),
    ("cat | wc", "no-shell"),
    ("true && true", "no-shell"),
    ("ls *.py", "no-shell"),
    ("cat $HOME/x", "no-shell"),
    ("$HOME/guard.sh", "no-shell"),
    ("ls > /tmp/x", "no-shell"),
    ("A=1 true", "no-shell"),
    ("./good.sh", None),
    ("sh plain.sh", None),
    ("grep '|' x", None),
    ("printf '$HOME'", None),
    ("sh -c 'cat | wc; true && ls *.py > $HOME/x'", None),
    ("sh -c 'if true; then true; fi'", None),
    ("sh -c '$TOOL run'", None),
    ("python3 -c 'print(1)'", None),
    ("python3 -m json.tool", None),
    ("./latin1.sh", None),
]


def test_commands_without_a_shell(world: World) -> None:
    _scripts(world)
    entries = [("PreToolUse", {"hooks": [command(text)]}) for text, _ in PLAIN]
    found = dict(zip((text for text, _ in PLAIN), by_entry(world, entries), strict=True))
    assert found == {text: [code] if code else [] for text, code in PLAIN}


def _scripts(world: World) -> None:
    for name, text, mode in (
        ("good.sh", "#!/bin/sh\n", 0o755),
        ("plain.sh", "#!/bin/sh\n", 0o644),
        ("no-first-line", "echo hi\n", 0o755),
        ("empty", "", 0o755),
        ("no-interpreter", "#!/gone/sh\n", 0o755),
        ("env-missing", "#!/usr/bin/env no-such-program-here\n", 0o755),
    ):
        world.write(world.project / name, text, mode)
    for name, data in (("crlf.sh", b"#!/bin/sh\r\nexit 0\r\n"), ("latin1.sh", b"#!/bin/sh\n# caf\xe9\n")):
        (world.project / name).write_bytes(data)
        (world.project / name).chmod(0o755)


SHELL_LINES = [
    ("no-such-program-here", "program-missing"),
    ('"$KODIK_PROJECT_ROOT/gone.sh" --x', "program-missing"),
    ("bash ${KODIK_PROJECT_ROOT}/gone.sh", "program-missing"),
    ("A=1 ./gone.sh | cat", "program-missing"),
    ("./plain.sh", "not-executable"),
    ('"${KODIK_PROJECT_ROOT}"/good.sh', None),
    ("./no-first-line", None),  # a shell runs such a script itself
    ("~/good.sh", "program-missing"),
    ("cat | wc > /dev/null; echo $HOME/*", None),
    ("[ -f x ] && ./gone.sh || true", None),
    ("for f in *; do echo $f; done", None),
    ("$UNKNOWN_VARIABLE/x.sh", None),
    ("f() { true; }; f", None),
    ("{ true; }", None),
    ("(cd x && ls)", None),
]


def test_commands_in_a_shell(world: World) -> None:
    _scripts(world)
    entries = [("PreToolUse", {"hooks": [command(text)]}) for text, _ in SHELL_LINES]
    found = dict(zip((text for text, _ in SHELL_LINES), by_entry(world, entries, "kodik"), strict=True))
    assert found == {text: [code] if code else [] for text, code in SHELL_LINES}


def test_a_relative_path_that_starts_elsewhere(world: World) -> None:
    world.write(world.project / ".kolega" / "guard.sh", "#!/bin/sh\n", 0o755)
    kolega(world, "PreToolUse", command("./guard.sh"))
    found = one(check(world, status=1), "program-missing")
    assert str(world.project / ".kolega" / "guard.sh") in found["fix"]


def test_python_where_there_is_only_python3(world: World) -> None:
    folder = world.root / "bin"
    folder.mkdir()
    (folder / "python3").symlink_to(shutil.which("true") or "/bin/true")
    world.env["PATH"] = str(folder)
    kolega(world, "Stop", command("python hook.py"))
    assert "python3" in one(check(world, status=1), "program-missing")["fix"]


def test_the_dialects_own_id_for_what_cannot_start(world: World) -> None:
    path = kode(world, "hooks:\n  session_end:\n    - exec: 'true'\n    - exec: ./gone.sh\n")
    found = one(check(world, status=1), "KODE-HOOK-004")
    assert found["where"] == f"{path}:4"


def test_script_folders(world: World) -> None:
    agenthook(world, "", None, name="without")
    agenthook(world, "", mode=0o644, name="without-bit")
    agenthook(world, "", "#!/gone\n", name="without-interpreter")
    problems = {problem["where"].split("/")[-2]: problem["code"] for problem in check(world, status=1)}
    assert problems == {
        "without": "no-entry-point",
        "without-bit": "not-executable",
        "without-interpreter": "bad-first-line",
    }


def test_executables_are_looked_at_and_not_asked(world: World) -> None:
    folder = world.project / ".kodelet" / "hooks"
    world.write(folder / "asked", "#!/bin/sh\ntouch started\necho agent_stop\n", 0o755)
    world.write(folder / "no-bit", "#!/bin/sh\n", 0o644)
    world.write(folder / "broken", "#!/gone\n", 0o755)
    world.write(folder / "README.md", "# Hooks\n", 0o644)
    problems = {problem["where"].split("/")[-1]: problem["code"] for problem in check(world)}
    assert problems == {"no-bit": "not-executable", "broken": "bad-first-line"}
    assert not (world.project / "started").exists()


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("rules:check", False),
        ("pack.rules:check", False),
        ("json:loads", False),
        ("rules:gone", True),
        ("nowhere.rules:check", True),
        ("pack.gone:check", True),
        ("rules.deeper:check", True),
    ],
)
def test_callables_are_found_without_importing_them(world: World, name: str, missing: bool) -> None:
    source = "open('imported', 'w')\n\ndef check(event):\n    return None\n"
    world.module("rules", source)
    world.module("rules", source, world.project / "pack")
    kolega(world, "Stop", {"type": "python", "callable": name})
    assert codes(check(world)) == (["module-missing"] if missing else [])
    assert not (world.project / "imported").exists()


# -- places


@pytest.mark.parametrize(
    ("path", "right"),
    [
        ("project/.kodik/hooks.json", ".kodik/hooks/hooks.json"),
        ("project/.agents/hooks/HOOK.md", ".agents/hooks/<name>/HOOK.md"),
        ("project/.agents/hooks/sub/module/HOOK.md", "one level higher"),
        ("project/.agents/hooks/it/hook.md", "capitals"),
        ("project/.kode/config.yml", ".kode/config.yaml"),
        ("project/.kolega/hooks/hooks.json", ".kolega/hooks.json"),
        ("home/.kode/kode.json", "~/.config/kode/config.yaml"),
        ("home/.kolega/hooks.json", "kolega-code/hooks.json"),
        ("home/.agents/hooks/it/HOOK.md", "agents/hooks/<name>/HOOK.md"),
    ],
)
def test_files_in_the_wrong_place(world: World, path: str, right: str) -> None:
    world.write(world.root / path, '{"hooks": {}}')
    found = one(check(world, status=0), "misplaced-file")
    assert found["where"] == str(world.root / path)
    assert right in found["fix"]


def test_files_of_that_name_without_hooks_are_no_affair_of_ours(world: World) -> None:
    world.write(world.home / ".kode" / "kode.json", '{"model": "x"}')
    assert check(world) == []


def test_what_a_hook_keeps_in_its_folder_is_its_own_affair(world: World) -> None:
    agenthook(world, "")
    world.write(world.project / ".agents" / "hooks" / "it" / "examples" / "HOOK.md", "x")
    assert check(world) == []


def test_a_home_that_is_the_project(world: World) -> None:
    """A file may be misplaced for the user, but right for the project."""
    agenthook(world, "")
    world.env["HOME"] = str(world.project)
    assert check(world) == []


def test_a_plugin_with_its_hooks_at_the_root(world: World) -> None:
    world.write(world.root / "plugin" / "hooks.json", '{"hooks": {}}')
    found = one(check(world, "--plugin-dir", str(world.root / "plugin")), "misplaced-file")
    assert found["where"].endswith("plugin/hooks.json")


# -- single paths

BAD_KOLEGA = '{"schema_version": 1, "hooks": {"Nope": []}}'
BAD_KODIK = '{"hooks": {"Nope": []}}'


def test_a_path_limits_what_is_shown(world: World) -> None:
    kode(world, "hooks:\n  nope: []\n")
    kolega(world, "Nope")
    assert len(check(world)) == 2
    for path in (".kolega", ".kolega/hooks.json", str(world.project / ".kolega")):
        (problem,) = check(world, path)
        assert problem["where"].startswith(str(world.project / ".kolega"))
    assert len(check(world, ".kolega", ".kode/config.yaml")) == 2
    assert len(check(world, ".")) == 2


def test_another_project_by_its_folder_or_its_file(world: World) -> None:
    other = world.root / "other"
    world.write(other / ".kolega" / "guard.sh", "#!/bin/sh\n", 0o755)
    document = {"schema_version": 1, "hooks": {"Stop": [{"hooks": [command("./.kolega/guard.sh")]}], "Nope": []}}
    path = world.write(other / ".kolega" / "hooks.json", json.dumps(document))
    for named in (other, path):
        assert codes(check(world, str(named))) == ["unknown-event"]


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        (".agents/hooks/guard/HOOK.md", "no fields", "no-front-matter"),
        (".kodelet/hooks/guard", "#!/gone\n", "bad-first-line"),
    ],
)
def test_a_hook_in_a_folder_that_could_be_a_plugin_s(world: World, name: str, text: str, code: str) -> None:
    path = world.write(world.root / "other" / name, text, 0o755)
    assert codes(check(world, str(path))) == [code]
    assert codes(check(world, str(path.parent))) == [code]
    script = world.write(world.root / "other" / ".agents" / "hooks" / "guard" / "scripts" / "run", "", 0o755)
    done = world.command("check", str(script))
    assert (done.returncode, done.stdout) == (3, "")
    assert "Name the file that declares the hook." in done.stderr


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("hooks.json", BAD_KOLEGA, "unknown-event"),
        ("hooks.json", BAD_KODIK, "unknown-event"),
        ("hooks.toml", "[hooks]\nNope = []\n", "unknown-event"),
        ("settings.yaml", "hooks:\n  session_end: []\n  nope: []\n", "unknown-event"),
        ("config.yaml", "hooks:\n  nope: []\n", "unknown-event"),
        ("guard/HOOK.md", "no fields", "no-front-matter"),
    ],
)
def test_a_file_outside_the_usual_places(world: World, name: str, text: str, code: str) -> None:
    path = world.write(world.root / "elsewhere" / name, text)
    assert codes(check(world, str(path))) == [code]
    assert codes(check(world, str(path.parent))) == [code]


def test_an_executable_outside_the_usual_places(world: World) -> None:
    path = world.write(world.root / "elsewhere" / "guard", "#!/gone\ntouch started\n", 0o755)
    assert codes(check(world, str(path), "--dialect", "kodelet")) == ["bad-first-line"]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("notes.txt", "hello", ["not a hook file"]),
        ("hooks.json", "[broken", ["kodik", "kolega", "--dialect"]),
        ("data.json", '{"hooks": {}}', ["--dialect"]),
        ("gone", None, ["no such file"]),
    ],
)
def test_a_file_of_nobody_knows_which_dialect(world: World, name: str, text: str | None, words: list[str]) -> None:
    path = world.root / "elsewhere" / name
    if text is not None:
        world.write(path, text)
    done = world.command("check", str(path))
    assert (done.returncode, done.stdout) == (3, "")
    assert all(word in done.stderr for word in words), done.stderr


def test_the_dialect_decides_where_the_file_does_not(world: World) -> None:
    path = world.write(world.root / "elsewhere" / "hooks.json", "[broken")
    assert codes(check(world, str(path), "--dialect", "kolega")) == ["invalid-json"]
    data = world.write(world.root / "elsewhere" / "data.json", BAD_KODIK)
    assert codes(check(world, str(data), "--dialect", "kode")) == ["unknown-event"]
    assert codes(check(world, str(data), "--dialect", "kolega")) == ["schema-version"]


def test_a_pipe_is_not_waited_for(world: World) -> None:
    folder = world.project / ".kolega"
    folder.mkdir()
    os.mkfifo(folder / "hooks.json")
    for words in ((), (str(folder / "hooks.json"),)):
        assert codes(check(world, *words, status=1)) == ["unreadable"]


def test_an_event_that_stands_twice_in_a_json_file(world: World) -> None:
    gate = '[{"hooks": [{"type": "command", "command": "true"}]}]'
    text = f'{{"hooks": {{\n "PreToolUse": {gate},\n "Stop": {gate},\n "PreToolUse": {gate}\n}}}}'
    path = world.write(world.project / ".kodik" / "hooks" / "hooks.json", text)
    found = one(check(world), "repeated-key")
    assert found["where"] == f"{path}:4"
    assert "`PreToolUse`" in found["what"]
    named = text.replace(f' "PreToolUse": {gate},\n', "").replace('"true"', '"echo \\"PreToolUse\\" PreToolUse"')
    world.write(path, named)
    assert "repeated-key" not in codes(check(world))


def test_a_file_of_two_dialects_is_complained_of_once(world: World) -> None:
    world.write(world.project / ".github/hooks/a.json", '{"version": 1')
    assert world.command("list").stderr.count("[invalid-json]") == 1
