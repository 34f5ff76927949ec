"""An agent of a version that is known not to load our entry is off, and one that is only newer is not."""

from __future__ import annotations

import json
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.engine.catalog import build
from anyhook.gates.agents import agent_status
from anyhook.gates.observed import load
from anyhook.gates.status import gates
from anyhook.gates.versions import judged
from anyhook.tables.registry import INSTALLABLE, changes, host

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import World

ONES = (
    "0", "0.0.1", "0.9", "1.0", "1.18.32", "1.18.33", "1.18.34", "1.18.99", "1.19", "1.99.99", "v1.2.3",
    "codex-cli 0.170.0", "1.2.3 (Claude Code)",
)  # fmt: skip
TWOS = (
    "2", "2.0", "2.0.0", "2.0.0-beta.3", "2.0.1", "2.1.325", "2.1.400", "2.2.0", "2.10.4", "3", "3.0.0", "9.9",
    "10.0.0", "20.1.2", "2026.9.2", "2026.11.18", "3000.12", "99999.1.1", "v2.3.4", "opencode 2.2.0", "2.2.0+build",
)  # fmt: skip
NONE = ("", "unknown", "x.y.z", "version two", "1.", ".2")
"""Forty invented versions: before the second, since it, and none."""


def program(world: World, name: str, said: str, folder: str = "bin") -> Path:
    """A program that prints a version and writes down that it was started."""
    text = f"#!/bin/sh\necho x >> {world.root}/started\nprintf '%s\\n' '{said}'\n"
    path = world.write(world.root / folder / name, text, 0o755)
    world.env["PATH"] = f"{path.parent}:/usr/bin:/bin"
    return path


def started(world: World) -> int:
    path = world.root / "started"
    return len(path.read_text().splitlines()) if path.exists() else 0


def told(world: World, *words: str) -> Any:
    return json.loads(world.command("status", "--json", *words).stdout)


def test_an_opencode_of_version_2_is_off(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    program(world, "opencode", "2.2.0")
    for words in (("opencode",), ()):  # named, and the only one with our entry
        status = told(world, *words)
        row = status["agents"]["opencode"]
        assert (status["protected"], row["state"], row["version"], row["contract"]) == (
            False,
            "off",
            "2.2.0",
            "changed",
        )
        assert "does not load plug-ins of version 1" in row["why"]
    done = world.command("status")
    assert (done.returncode, done.stdout.splitlines()[-1].startswith("NOT PROTECTED: ")) == (1, True)
    assert "2.2.0 does not load" in done.stdout
    assert world.command("status", "--short").returncode == 1
    doctor = world.command("doctor", "opencode", "--json")
    row = json.loads(doctor.stdout)["opencode"]
    assert (doctor.returncode, row["status"], row["contract"], row["seen"]) == (
        1,
        "INERT",
        "changed",
        judged(host("opencode"), None).seen,
    )
    assert world.command("install", "claude").returncode == 0
    both = told(world)
    assert (both["protected"], both["agents"]["claude"]["state"], both["agents"]["opencode"]["state"]) == (
        True, "on", "off",
    )  # fmt: skip
    assert world.command("status").stdout.splitlines()[-1].startswith("GUARDS ON: ")


def test_an_opencode_of_version_1_is_on(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    program(world, "opencode", "1.18.33")
    status = told(world, "opencode")
    row = status["agents"]["opencode"]
    assert (status["protected"], row["state"], row["contract"], row["why"]) == (True, "on", "known", "")


def test_a_newer_version_is_said_and_changes_nothing(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "claude").returncode == 0
    program(world, "claude", "99.0.1 (Claude Code)")
    status = told(world, "claude")
    row = status["agents"]["claude"]
    assert (status["protected"], row["state"], row["contract"]) == (True, "on", "newer")
    assert (row["version"], row["seen"]) == ("99.0.1 (Claude Code)", judged(host("claude"), None).seen)
    assert "99.0.1 is newer" in row["why"]
    assert "99.0.1 is newer" in world.command("doctor", "claude").stdout


FIRST = {
    "claude": "1.0.59", "codex": "0.124", "gemini": "0.26", "qwen": "0.14", "copilot": "0.0.422", "goose": "1.34",
    "hermes": "0.11", "vibe": "2.21", "cursor": "2026.1.16", "devin": "3000.3.22", "kimicli": "1.28",
    "opencode": "1.3.4", "muse": "0.2", "deepagents": "0.1.45", "codepuppy": "0.0.421", "kolega": "0.4",
    "openclaw": "2026.1.29", "openhands": "1.12",
}  # fmt: skip
"""The first version that loads and obeys our entry, from the products' changelogs and packages."""
LAST = {"opencode": "2", "kimicli": "1.52"}
"""The first version that no longer does."""
CHANGED = {**dict.fromkeys(FIRST, "0.0.1"), **LAST}
"""A version that does not."""


def parsed(said: str) -> tuple[int, ...]:
    return tuple(map(int, re.search(r"\d+(\.\d+)*", said)[0].split(".")))  # type: ignore[index]


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_invented_versions(agent: str) -> None:
    """Only a row of changes makes a version `changed`; nothing else does."""
    assert len((*ONES, *TWOS, *NONE)) == 40
    found = {said: judged(host(agent), said).contract for said in (*ONES, *TWOS, *NONE)}
    assert {found[said] for said in NONE} == {"unknown"}
    assert "unknown" not in {found[said] for said in (*ONES, *TWOS)}
    first, last = parsed(FIRST.get(agent, "0")), parsed(LAST.get(agent, "999999"))
    expected = {said for said in (*ONES, *TWOS) if not first <= parsed(said) < last}
    assert {said for said, contract in found.items() if contract == "changed"} == expected


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_what_forty_versions_change(world: World, agent: str) -> None:
    """Through a fake program: never on where a row says `changed`, and never off only because it is newer."""
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", agent).returncode == 0
    table, catalog = host(agent), build(world.setup(), may_start=False)
    found = gates(world.setup(), catalog, table)
    plain, _ = agent_status(table, world.setup(), catalog, found)
    assert (plain.version.said, plain.version.contract) == (None, "unknown")
    wrong = []
    for said in (*ONES, *TWOS, *NONE):
        program(world, table.program, said)
        seen, _ = agent_status(table, world.setup(), catalog, found, may_start=True)
        changed = seen.version.contract == "changed"
        state = ("off", "version_changed") if changed else (plain.state, plain.cause)
        if (seen.state, seen.cause, seen.dead) != (*state, plain.dead or changed):
            wrong.append((said, seen.state, seen.cause))
        assert seen.version == judged(table, said or None)
    assert wrong == []
    assert started(world) == len((*ONES, *TWOS, *NONE))


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_status_and_doctor_say_what_is_known_of_a_version(world: World, agent: str) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", agent).returncode == 0
    said = CHANGED.get(agent, "99999.1.1")
    program(world, host(agent).program, said)
    status = told(world, agent)
    row = status["agents"][agent]
    known = {"version": said, "seen": judged(host(agent), None).seen, "contract": judged(host(agent), said).contract}
    assert {key: row[key] for key in known} == known
    doctor = json.loads(world.command("doctor", agent, "--json").stdout)[agent]
    assert {key: doctor[key] for key in known} == known
    assert known["contract"] == ("changed" if agent in CHANGED else "newer")
    if agent in CHANGED:
        assert (row["state"], status["protected"], doctor["status"]) == ("off", False, "INERT")
    else:
        assert "newer than" in row["why"]


def test_rows_have_their_sources() -> None:
    for agent in INSTALLABLE:
        for change in changes(agent):
            assert all((change.since or change.before, change.what, change.source, change.date))


def test_what_was_seen_has_its_date() -> None:
    """`make live` writes each version that it drove."""
    rows: Any = load()["agents"]
    for agent, row in rows.items():
        assert row["versions"], agent
        assert all(re.fullmatch(r"2026-\d\d-\d\d", date) for date in row["versions"].values())
        seen = judged(host(agent), None).seen
        assert seen == max(row["versions"], key=parsed)
        assert judged(host(agent), seen).contract == "known"


def test_a_program_is_asked_once_for_each_of_its_forms(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    path = program(world, "opencode", "1.18.33")
    for _ in range(3):
        told(world)
        told(world, "opencode")
        world.command("doctor", "opencode")
        world.command()
    assert started(world) == 1
    path.write_text(path.read_text().replace("1.18.33", "2.2.00"))
    os.utime(path, (time.time() + 9, time.time() + 9))
    assert told(world)["agents"]["opencode"]["contract"] == "changed"
    assert started(world) == 2


@pytest.mark.parametrize("has_entry", [False, True])
def test_setup_does_not_say_that_an_opencode_of_version_2_calls_us(world: World, has_entry: bool) -> None:
    if has_entry:
        assert world.command("install", "opencode").returncode == 0
    program(world, "opencode", "2.2.0")
    done = world.command("setup", "opencode", "--yes")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert "OFF" in said
    assert "2.2.0 does not load plug-ins of version 1" in said
    assert "opencode: calls anyhook" not in said
    (row,) = json.loads(world.command("setup", "opencode", "--yes", "--json").stdout)["agents"]
    assert row["status"] == "INERT"


def test_only_verbs_that_say_whether_it_is_on_start_it(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    program(world, "opencode", "2.2.0")
    for words in ((), ("log",), ("check",), ("list",), ("setup", "opencode", "--dry-run"), ("ci",)):
        world.command(*words)
    assert started(world) == 0


def test_a_program_of_the_project_is_not_started(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    path = program(world, "opencode", "1.18.33", folder=f"{world.project.name}/bin")
    assert world.project in path.parents
    assert told(world, "opencode")["agents"]["opencode"]["contract"] == "unknown"
    assert started(world) == 0


def test_a_program_that_hangs_costs_two_seconds_once(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    path = program(world, "opencode", "2.2.0")
    path.write_text(f"#!/bin/sh\necho x >> {world.root}/started\nsleep 30 & sleep 30\n")
    for _ in range(2):
        begun = time.monotonic()
        assert told(world, "opencode")["agents"]["opencode"]["contract"] == "unknown"
        assert time.monotonic() - begun < 10
    assert started(world) == 1


def test_what_a_package_says_is_read(world: World) -> None:
    """Nothing is started for it: the program here could not even be run."""
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    package = world.root / "lib/node_modules/opencode-ai"
    world.write(package / "package.json", json.dumps({"name": "opencode-ai", "version": "2.4.1"}))
    script = program(world, "opencode", "1.0.0", folder="lib/node_modules/opencode-ai/bin")
    assert script.parent.parent == package
    link = world.root / "links/opencode"
    link.parent.mkdir()
    link.symlink_to(script)
    world.env["PATH"] = f"{link.parent}:/usr/bin:/bin"
    row = told(world, "opencode")["agents"]["opencode"]
    assert (row["version"], row["contract"], started(world)) == ("2.4.1", "changed", 0)


def test_what_a_package_behind_a_shell_script_says_is_read(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "opencode").returncode == 0
    package = world.root / "inst/node_modules/opencode-ai"
    world.write(package / "package.json", json.dumps({"name": "opencode-ai", "version": "2.4.1"}))
    world.write(package / "cli.js", "")
    text = f'#!/bin/sh\nPATH="/opt/node/bin:$PATH" exec node "{package}/cli.js" "$@"\n'
    program(world, "opencode", "1.0.0").write_text(text)
    row = told(world, "opencode")["agents"]["opencode"]
    assert (row["version"], row["contract"], started(world)) == ("2.4.1", "changed", 0)


def test_what_a_virtual_environment_says_is_read(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "vibe").returncode == 0
    program(world, "vibe", "1.0.0", folder="venv/bin")
    info = world.root / "venv/lib/python3.13/site-packages/mistral_vibe-3.0.2.dist-info"
    world.write(info / "entry_points.txt", "[console_scripts]\nvibe = vibe.cli:main\n")
    row = told(world, "vibe")["agents"]["vibe"]
    assert (row["version"], row["contract"], started(world)) == ("3.0.2", "known", 0)


# -- an agent whose config cannot take our entry

FLOW = "model: {default: x}\nhooks: {pre_tool_call: [{command: /bin/true, timeout: 5}]}\n"


def test_an_agent_whose_config_cannot_be_edited_is_told_everywhere(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    config = world.write(world.home / ".hermes/config.yaml", FLOW)
    program(world, "hermes", "0.19.0")
    done = world.command("setup", "hermes", "claude", "--yes")
    assert done.returncode == 1
    assert "Hermes is not guarded" in " ".join(done.stdout.split())
    assert config.read_text() == FLOW
    assert told(world)["agents"]["claude"]["state"] == "on", "the others are set up all the same"
    assert "anyhook uninstall claude" in done.stderr
    assert "anyhook uninstall hermes" not in done.stderr
    for words in ((), ("hermes",)):
        row = told(world, *words)["agents"]["hermes"]
        assert (row["installed"], row["state"]) == (False, "off")
        assert f"{config} is left alone" in row["why"]
        assert "one key per line" in row["why"]
    assert "hermes does not ask them" in world.command("status", "--short").stdout
    assert json.loads(world.command("doctor", "hermes", "--json").stdout)["hermes"]["reason"] in row["why"]
    assert "hermes: the entry cannot be added" in " ".join(world.command().stdout.split())
    config.write_text("model:\n  default: x\nhooks:\n  pre_tool_call:\n    - command: /bin/true\n      timeout: 5\n")
    assert world.command("install", "hermes").returncode == 0, "the advice works"
    assert told(world)["agents"]["hermes"]["installed"] is True


@pytest.mark.parametrize(
    "text",
    [
        '{"model": {"default": "x"}, "hooks_auto_accept": true}',
        '{\n  "hooks": {"pre_tool_call": [{"command": "x"}]}\n}\n',
        "model: x\nhooks: null\n",
        "model: x\nhooks: ~\nother: 1\n",
        "model: x\nhooks: {}\n",
        "{}\n",
    ],
)
def test_json_and_nulls_in_a_file_of_yaml_can_be_edited(world: World, text: str) -> None:
    config = world.write(world.home / ".hermes/config.yaml", text)
    assert world.command("install", "hermes").returncode == 0
    assert json.loads(world.command("doctor", "hermes", "--json").stdout)["hermes"]["installed"] == [str(config)]
    again = config.read_text()
    assert world.command("install", "hermes").returncode == 0
    assert config.read_text() == again
    assert world.command("uninstall", "hermes").returncode == 0
    assert config.read_text() == text


def test_install_says_that_this_version_does_not_load_the_entry(world: World) -> None:
    program = world.write(world.home / "bin/opencode", "#!/bin/sh\necho 2.0.1\n", 0o755)
    world.env["PATH"] = f"{program.parent}:{world.env['PATH']}"
    done = world.command("install", "opencode")
    why = json.loads(world.command("status", "opencode", "--json").stdout)["agents"]["opencode"]["why"]
    assert why
    assert f"OFF: {why}" in " ".join(done.stderr.split())
