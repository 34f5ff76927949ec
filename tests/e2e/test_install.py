"""`install` and `uninstall`: they add, keep and remove our entry in agents' files, and change nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.documents import edit
from anyhook.engine.express import express
from anyhook.install.entries import event_of, is_ours
from anyhook.state.installs import PLAIN_NAME, UNMADE_NAME, Installs, own_name
from anyhook.state.switches import Switches
from anyhook.tables.host_rows import Entry
from anyhook.tables.registry import DIALECTS, HOSTS, dialect, host, sample
from conftest import World

if TYPE_CHECKING:
    from anyhook.documents.parse import Syntax

AGENTS = tuple(name for name in HOSTS if host(name).entry is not None)
DATA = Path(__file__).parents[1] / "data/payloads"
SHARED = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json", "kimi": ".kimi-code/config.toml", "vibe": ".vibe/hooks.toml",
}  # fmt: skip
"""Agents whose file also holds other people's entries."""
SETTINGS = """{
  // what I like
  "theme": "dark",
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "mine.sh"}]} // keep
    ],
    "Mine": []
  },
}
"""
TABLES = """# what I like
theme = "dark"

[[hooks]]
event = "PreToolUse"
type = "pre_tool"
name = "mine"
command = "mine.sh"

[other]
a = 1"""


def snapshot(world: World) -> dict[str, bytes | None]:
    """Every file and folder except our own state."""
    return {
        str(path.relative_to(world.root)): path.read_bytes() if path.is_file() else None
        for path in world.root.rglob("*")
        if world.home / "state" not in (path, *path.parents)
    }


def run(world: World, *words: str) -> dict[str, Any]:
    done = world.command(*words, "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def commands(value: object) -> list[str]:
    """Every command line in a document."""
    if isinstance(value, dict):
        own = [str(value[key]) for key in ("command", "bash", "exec") if isinstance(value.get(key), str)]
        return own + [found for item in value.values() for found in commands(item)]
    return [found for item in value for found in commands(item)] if isinstance(value, list) else []


def document(path: Path) -> Any:
    syntax: Syntax = "toml" if path.suffix == ".toml" else "yaml" if path.suffix == ".yaml" else "json"
    return edit.read(path.read_text(), syntax)


def taken_for_hooks(world: World) -> list[str]:
    """The hooks and problems that we find in files that hold our own entries. There should be none."""
    catalog = world.engine().catalog
    return [hook.id for hook in catalog.hooks if hook.scope != "builtin"] + [str(one) for one in catalog.problems]


def test_the_agents_of_the_contract() -> None:
    assert set(AGENTS) >= {
        "claude", "codex", "gemini", "qwen", "copilot", "goose", "kimi", "vibe", "cline", "opencode"
    }  # fmt: skip


@pytest.mark.parametrize("agent", AGENTS)
def test_in_and_out_again(world: World, agent: str) -> None:
    """In an empty home, `uninstall` removes everything again, including folders."""
    before = snapshot(world)
    said = run(world, "install", agent)
    assert said["changed"]
    assert said["notes"]
    assert all(Path(path).is_file() for path in said["changed"])
    assert taken_for_hooks(world) == []
    after = snapshot(world)
    assert run(world, "install", agent)["changed"] == [], "a second time changes nothing"
    assert snapshot(world) == after
    run(world, "uninstall", agent)
    assert snapshot(world) == before


@pytest.mark.parametrize("agent", SHARED)
def test_other_peoples_entries_stay(world: World, agent: str) -> None:
    path = world.home / SHARED[agent]
    text = TABLES if path.suffix == ".toml" else SETTINGS
    world.write(path, text, 0o600)
    run(world, "install", agent)
    made = path.read_text()
    assert "what I like" in made
    assert made.count("mine.sh") == 1
    assert path.stat().st_mode & 0o777 == 0o600
    assert made.count(f" bridge {agent} ") == sum(row.installed for row in host(agent).events)
    run(world, "uninstall", agent)
    assert path.read_text() == text


@pytest.mark.parametrize("agent", SHARED)
def test_what_others_changed_meanwhile_stays(world: World, agent: str) -> None:
    path = world.home / SHARED[agent]
    toml = path.suffix == ".toml"
    world.write(path, TABLES if toml else SETTINGS)
    run(world, "install", agent)
    path.write_text(path.read_text().replace('"dark"', '"light"').replace("mine.sh", "other.sh"))
    run(world, "install", agent)
    run(world, "uninstall", agent)
    expected = (TABLES if toml else SETTINGS).replace('"dark"', '"light"').replace("mine.sh", "other.sh")
    assert path.read_text() == expected


@pytest.mark.parametrize("text", ['{"hooks": {}}', '{\n  "hooks": {\n    "PreToolUse": []\n  },\n  "a": 1\n}\n'])
@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_empty_lists_of_hooks(world: World, agent: str, text: str) -> None:
    path = world.write(world.home / SHARED[agent], text)
    run(world, "install", agent)
    assert any(" PreToolUse " in command for command in commands(document(path)))
    run(world, "uninstall", agent)
    assert path.read_text() == text


@pytest.mark.parametrize("last", ["\r\n", ""])
@pytest.mark.parametrize("agent", SHARED)
def test_ends_of_lines_are_the_files_own(world: World, agent: str, last: str) -> None:
    path = world.home / SHARED[agent]
    text = (TABLES if path.suffix == ".toml" else SETTINGS.rstrip()).replace("\n", "\r\n") + last
    world.write(path, "").write_bytes(text.encode())
    run(world, "install", agent)
    made = path.read_bytes()
    assert b"bridge" in made
    assert made.count(b"\n") == made.count(b"\r\n")
    path.write_bytes(made.replace(b'"dark"', b'"light"'))
    run(world, "uninstall", agent)
    assert path.read_bytes() == text.replace('"dark"', '"light"').encode()


def test_text_behind_our_block(world: World) -> None:
    """The text stays on its own line, although the line before our block had no newline."""
    path = world.write(world.home / ".vibe/hooks.toml", "a = 1")
    run(world, "install", "vibe")
    path.write_text(path.read_text() + "[more]\nb = 2\n")
    run(world, "uninstall", "vibe")
    assert path.read_text() == "a = 1\n[more]\nb = 2\n"


def test_tables_whose_block_is_gone(world: World) -> None:
    """An agent that rewrites its config drops comments, including the markers of our block."""
    path = world.write(world.home / ".kimi-code/config.toml", TABLES)
    run(world, "install", "kimi")
    kept = "".join(line for line in path.read_text().splitlines(True) if not line.startswith("#"))
    path.write_text(kept)
    run(world, "install", "kimi")
    assert sum("bridge kimi" in command for command in commands(document(path))) == kept.count("bridge kimi")
    run(world, "uninstall", "kimi")
    assert document(path) == tomllib.loads(TABLES)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_dry_run_shows_and_does_nothing(world: World, agent: str) -> None:
    before = snapshot(world)
    done = world.command("install", agent, "--dry-run")
    assert done.returncode == 0
    assert "+++ " in done.stdout
    assert "bridge" in done.stdout
    assert snapshot(world) == before
    assert not (world.state / "installs").exists()


@pytest.mark.parametrize("agent", ["goose", "vibe"])
def test_a_dry_run_shows_the_name_that_is_written(world: World, agent: str) -> None:
    """The user's entry gets a name that no project knows. The first real `install` creates it; a dry run does not."""
    said = run(world, "install", agent, "--dry-run")
    shown = said["diff"]
    assert UNMADE_NAME in shown
    assert not re.search(r"anyhook/hooks|\"anyhook-(pre|post)", shown), "the plain name is not what will be written"
    assert any(UNMADE_NAME in note for note in said["notes"])
    assert UNMADE_NAME in world.command("install", agent, "--dry-run").stderr
    run(world, "install", agent)
    name = own_name(str(world.state))
    assert name != PLAIN_NAME
    again = run(world, "install", agent, "--dry-run", "--closed")
    assert name in again["diff"]
    assert UNMADE_NAME not in json.dumps(again)


@pytest.mark.parametrize("indexed", [True, False])
def test_an_entry_with_the_plain_name_goes_once_it_has_its_own(world: World, indexed: bool) -> None:
    """Earlier versions used the plain name. Two entries would call us twice, and a project can hide the plain one."""
    old = world.home / ".agents/plugins/anyhook"
    run(world, "install", "goose")
    new = old.with_name(own_name(str(world.state)))
    new.rename(old)
    (world.state / "installs/name").unlink()
    index = world.state / "installs/index.json"
    index.write_text(index.read_text().replace(f"/{new.name}", "/anyhook") if indexed else "{}")
    said = run(world, "install", "goose")
    assert not [*old.rglob("*.json")]
    assert old.exists() is not indexed, "folders stay that we do not know to have made"
    assert (old.with_name(own_name(str(world.state))) / "hooks/hooks.json").is_file()
    assert str(old / "hooks/hooks.json") in said["changed"]
    run(world, "uninstall", "goose")
    assert not [*old.parent.rglob("*.json")]


def test_a_projects_entry_is_not_taken_for_the_users_old_one(world: World) -> None:
    """If the project is the user's home, both entries have the same path."""
    home = ("--project", str(world.home))
    path = run(world, "install", "goose", "--scope", "project", *home)["changed"][0]
    run(world, "install", "goose", *home)
    assert Path(path).is_file()


LISTING = [agent for agent in AGENTS if getattr(host(agent).entry, "style", "") not in ("module", "scripts")]


@pytest.mark.parametrize("agent", LISTING)
def test_every_event_is_hooked_up_once(world: World, agent: str) -> None:
    (path, *_) = run(world, "install", agent)["changed"]
    found = commands(document(Path(path)))
    assert all(is_ours(command, host(agent)) for command in found)
    events = [event_of(command, host(agent)) for command in found]
    assert sorted(events) == sorted(row.native for row in host(agent).events if row.installed)


def test_the_entry_works(world: World) -> None:
    """The installed command line runs and answers."""
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    run(world, "install", "codex")
    found = commands(document(world.home / ".codex/hooks.json"))
    (command,) = [text for text in found if " PreToolUse " in text]
    payload = json.dumps({"tool_name": "Bash", "tool_input": {"command": "ls"}, "cwd": str(world.project)})
    done = subprocess.run(
        ["/bin/sh", "-c", command], input=payload, env=world.env, cwd="/", capture_output=True, text=True, check=False
    )
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny", done.stderr


@pytest.mark.parametrize("agent", AGENTS)
def test_a_closed_entry_answers_with_us_and_refuses_without(world: World, agent: str) -> None:
    """It refuses in the agent's own format and with its exit status, and `uninstall` removes it."""
    paths = run(world, "install", agent, "--closed")["changed"]
    assert taken_for_hooks(world) == []
    own = agent == "kodik"  # an agent runs its own hooks itself
    world.hook("agenthooks" if own else "kodik", "before_tool" if own else "PreToolUse", "echo no >&2; exit 2")
    table = host(agent)
    row = next(row for row in table.events if "pre_tool" in row.canonical)
    if table.entry is not None and table.entry.style == "module":
        assert "const CLOSED = true" in Path(paths[0]).read_text()
        assert run(world, "uninstall", agent)["changed"] == paths
        return
    texts = [text for path in paths for text in _lines_of(Path(path), agent)]
    (command,) = [text for text in texts if f"bridge {agent} {row.native} " in text]
    captured = DATA / f"{agent}/{row.native}.json"
    payload = captured.read_text() if captured.exists() else json.dumps(dict(sample(agent).payload))

    def answer(line: str) -> subprocess.CompletedProcess[str]:
        words = ["/bin/sh", "-c", line]
        return subprocess.run(
            words, input=payload, env=world.env, cwd=world.project, capture_output=True, text=True, check=False
        )

    done = answer(command)
    assert "no" in done.stdout + done.stderr
    expected = express({"block": "R"}, row.says)
    lost = world.write(world.root / "python", "#!/gone/python\n", 0o755)
    half = world.write(world.root / "half", "#!/bin/sh\nprintf '{\"half'; exit 1\n", 0o755)
    for gone in ("/gone/python", lost, "false", half):
        done = answer(command.replace(sys.executable, str(gone)))
        assert done.returncode == expected.status, done.stderr
        assert "anyhook cannot be run" in (done.stdout if expected.stdout else done.stderr)
        if expected.stdout:
            assert json.loads(done.stdout).keys() == json.loads(expected.stdout).keys()
    assert run(world, "install", agent)["changed"] == [], "it stays closed"
    assert sorted(run(world, "uninstall", agent)["changed"]) == sorted(paths)


def _lines_of(path: Path, agent: str) -> list[str]:
    if path.suffix in (".json", ".toml", ".yaml"):
        return commands(document(path))
    return [line.removeprefix("exec ") for line in path.read_text().splitlines() if f"bridge {agent}" in line]


def test_scripts_work(world: World) -> None:
    world.hook("kodik", "PreToolUse", "echo no >&2; exit 2")
    run(world, "install", "cline")
    payload = (Path(__file__).parents[1] / "data/payloads/cline/PreToolUse.json").read_text()
    script = str(world.home / ".cline/hooks/PreToolUse")
    done = subprocess.run([script], input=payload, env=world.env, capture_output=True, text=True, check=False)
    assert json.loads(done.stdout)["cancel"] is True, done.stderr


def test_a_project_is_shared(world: World) -> None:
    """A file that others check out must not contain a path of this machine."""
    (path,) = run(world, "install", "claude", "--scope", "project")["changed"]
    assert path == str(world.project.resolve() / ".claude/settings.json")
    assert all(command.startswith("anyhook bridge claude ") for command in commands(document(Path(path))))


def test_variables_of_the_agent_say_where(world: World) -> None:
    world.env["CODEX_HOME"] = str(world.root / "elsewhere")
    assert run(world, "install", "codex")["changed"] == [str(world.root / "elsewhere/hooks.json")]


def test_a_link_stays_a_link(world: World) -> None:
    real = world.write(world.root / "dotfiles/settings.json", "{}")
    (world.home / ".claude").mkdir()
    (world.home / ".claude/settings.json").symlink_to(real)
    run(world, "install", "claude")
    assert (world.home / ".claude/settings.json").is_symlink()
    assert "bridge" in real.read_text()
    run(world, "uninstall", "claude")
    assert real.read_text() == "{}"


def test_another_launcher_replaces_the_old_one(world: World) -> None:
    path = world.home / ".claude/settings.json"
    run(world, "install", "claude")
    old = json.dumps(
        {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "/old/anyhook bridge claude Stop"}]}]}}
    )
    path.write_text(old)
    run(world, "install", "claude")
    found = [command for command in commands(document(path)) if " Stop " in command]
    assert len(found) == 1
    assert "/old/" not in found[0]


def test_another_launcher_replaces_the_old_one_in_tables(world: World) -> None:
    path = world.write(world.home / ".kimi-code/config.toml", TABLES)
    run(world, "install", "kimi")
    now = path.read_text()
    path.write_text(re.sub(r'"[^"]*anyhook bridge', '"/old/anyhook bridge', now))
    assert "/old/" in path.read_text()
    run(world, "install", "kimi")
    assert path.read_text() == now


REFUSED = {
    "no JSON": ('{"a": }', "line 1: it is not valid JSON"), "a list": ("[]", "does not hold an object"),
    "hooks of another kind": ('{"hooks": {"Stop": {}}}', "`hooks.Stop` is not a list"),
    "not UTF-8": ("\udcff", "not UTF-8"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_cannot_be_changed_safely(world: World, what: str) -> None:
    text, why = REFUSED[what]
    path = world.home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = snapshot(world)
    done = world.command("install", "claude")
    assert (done.returncode, done.stdout) == (3, "")
    assert why in done.stderr
    assert str(path) in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert snapshot(world) == before


def test_inline_tables_are_left_alone(world: World) -> None:
    path = world.write(world.home / ".kimi-code/config.toml", 'hooks = [{event = "Stop", command = "x"}]\n')
    done = world.command("install", "kimi")
    assert done.returncode == 3
    assert "[[hooks]]" in done.stderr
    assert "bridge" not in path.read_text()


def test_somebody_elses_script(world: World) -> None:
    """If one of the files is not ours, none is written."""
    world.write(world.home / ".cline/hooks/PreToolUse", "#!/bin/sh\nexit 0\n", 0o755)
    before = snapshot(world)
    done = world.command("install", "cline")
    assert done.returncode == 3
    assert "is not ours" in done.stderr
    assert snapshot(world) == before
    run(world, "uninstall", "cline")
    assert snapshot(world) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written(world: World) -> None:
    (world.home / ".claude").mkdir(mode=0o500)
    done = world.command("install", "claude")
    assert done.returncode == 3
    assert "Nothing was changed" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["install", "claud"], "Did you mean `claude`?"),
        (["install", "kimi", "--scope", "project"], "use --scope user"),
        (["install", "claude", "--scope", "world"], "Invalid value"),
        (["install"], "Missing argument"),
        (["install", "claude", "--project", "/nowhere"], "no such directory"),
    ],
)
def test_a_bad_call(world: World, words: list[str], said: str) -> None:
    done = world.command(*words)
    assert (done.returncode, done.stdout) == (3, "")
    assert said in done.stderr


def test_many_installs_at_once_lose_no_entry(world: World) -> None:
    """A dozen installs of many agents, for the user and for the project, all change the same index."""
    places = [(agent, scope) for agent in AGENTS for scope in (host(agent).entry or Entry("groups", {})).files]
    calls = places[:: len(places) // 11]
    assert len(calls) >= 11
    assert {scope for _, scope in calls} == {"user", "project"}
    started = [
        subprocess.Popen(
            [sys.executable, "-m", "anyhook", "install", agent, "--scope", scope, "--json"],
            cwd=world.project, env=world.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for agent, scope in calls
    ]  # fmt: skip
    ended = [each.communicate(timeout=300) for each in started]
    assert [each.returncode for each in started] == [0] * len(calls), ended
    index = json.loads((world.state / "installs/index.json").read_text())
    assert set(index) == {path for out, _ in ended for path in json.loads(out)["changed"]}
    assert {(row["agent"], row["scope"]) for row in index.values()} == set(calls)


def test_an_install_waits_for_another(world: World) -> None:
    """A process that changes the index starts from what the previous one wrote."""

    def second() -> None:
        with Installs.changing(str(world.state)) as installs:
            installs.keep("/b", "b", "user", None, b"", ())

    with Installs.changing(str(world.state)) as installs:
        other = threading.Thread(target=second)
        other.start()
        other.join(0.2)
        assert other.is_alive(), "it waits"
        installs.keep("/a", "a", "user", None, b"", ())
    other.join(60)
    assert Installs(str(world.state)).before("/a", b"") == Installs(str(world.state)).before("/b", b"") == (True, None)


def test_hooks_turned_off_at_once_are_all_off(world: World) -> None:
    folder = str(world.state)
    seen = [Switches(folder) for _ in range(3)]
    for number, switches in enumerate(seen):
        switches.turn("", f"hook-{number}", on=False)
    assert Switches(folder).off("") == {"hook-0", "hook-1", "hook-2"}


@pytest.mark.parametrize(
    ("agent", "why"),
    [
        ("kodelet", "has extensions in place of hooks"),
        ("agenthooks", "no released agent reads"),
        ("zed", "runs no hooks"),
        ("roo", "runs no hooks"),
        ("warp", "runs no hooks"),
        ("continue", "never runs a hook"),
        ("windsurf", "which is gone"),
    ],
)
def test_agents_that_do_not_call_us_are_named_with_the_reason(world: World, agent: str, why: str) -> None:
    done = world.command("install", agent)
    assert (done.returncode, done.stdout) == (3, "")
    assert why in done.stderr


def test_every_dialect_has_a_host_or_says_why_not() -> None:
    assert [name for name in DIALECTS if bool(dialect(name).no_host) == (name in HOSTS)] == []


def test_a_variable_that_moves_the_agents_config_moves_our_entry(world: World) -> None:
    """Crush reads `crush.json` in the folder that its variable names."""
    world.env["CRUSH_GLOBAL_CONFIG"] = str(world.home / "elsewhere")
    assert run(world, "install", "crush")["changed"] == [str(world.home / "elsewhere" / "crush.json")]
