"""No secret gets into anything that is stored, however it arrived. Payloads are stored only if the user wants that."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from journal_box import Box

from anyhook import Event
from anyhook.state.settings import Settings
from conftest import World

CANARY = "Zebra7Canary9Secret0x"


@pytest.fixture
def box(world: World, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Box:
    return Box(world, capfd, monkeypatch)


def kept(world: World) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in world.state.rglob("*") if path.is_file()}


def settled(world: World, count: int) -> None:
    """Wait until this many records are written, including those of background hooks."""
    deadline = time.monotonic() + 120
    while len(world.journal()) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_canary_gets_into_no_sink(box: Box, tmp_path: Path) -> None:
    world = box.world
    world.env["MY_TOKEN"] = CANARY
    says = json.dumps({"additional_context": f"password: {CANARY}", "modified_input": {"api_key": CANARY}})
    world.write(tmp_path / "says", says)
    world.hook("kodik", "PreToolUse", f"cat {tmp_path}/says; echo my token is $MY_TOKEN >&2")
    world.hook("kodik", "Stop", f"echo 'postgres://me:{CANARY}@db/x' >&2; exit 2")
    world.hook("kode", "tool_call_pre", f"echo token={CANARY} >&2; exit 1")
    world.hook("agenthooks", "session_start", f"echo Authorization: Bearer {CANARY}", **{"async": True})  # type: ignore[arg-type]
    nested = json.dumps({"headers": {"Authorization": f"Bearer {CANARY}"}, "deep": json.dumps({"secret": CANARY})})
    data = json.dumps({"command": f"curl -u x --password {CANARY} https://u:{CANARY}@h/", "body": nested})
    for words in (["--dialect", "kodik"], []):
        assert world.command("fire", "PreToolUse", "--tool", "Bash", "--input", data, *words).returncode in (0, 2)
    world.command("fire", "stop")
    world.command("fire", "session_start")
    world.command("fire", "UserPromptSubmit", "--prompt", f"my password={CANARY} is this")
    settled(world, 6)
    assert box.lines("--search", "curl")
    assert box.json("stats")["hooks"]
    assert "[redacted]" in box.call("explain", "1")[1]
    assert [path for path, text in kept(world).items() if CANARY.encode() in text and "/plans/" not in path] == []
    assert any(b"[redacted]" in text for path, text in kept(world).items() if path.endswith("journal.jsonl"))
    cases = tmp_path / "x.hooktest.yaml"
    for text in (
        "log", "log --json", "log --search curl", "explain 1", "explain last", "stats --json", "replay --json",
        "export --format jsonl", f"record -o {cases}",
    ):  # fmt: skip
        status, out, err = box.call(*text.split())
        assert (status, CANARY in out + err) == (0, False), (text, out, err)
    assert b"curl" in cases.read_bytes()
    assert CANARY.encode() not in cases.read_bytes()


def test_nor_into_a_table(world: World, box: Box, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    world.command("fire", "UserPromptSubmit", "--prompt", f"curl with password={CANARY}")
    settled(world, 1)
    table = tmp_path / "x.parquet"
    assert box.call("export", "--format", "parquet", "-o", str(table))[0] == 0
    assert CANARY.encode() not in table.read_bytes()


@pytest.mark.parametrize("bodies", ["full", "hashed", "none"])
def test_payloads_as_their_user_wants_them(box: Box, bodies: str) -> None:
    world = box.world
    world.config(f'[journal]\nbodies = "{bodies}"\n')
    world.hook("kodik", "PreToolUse", "echo Giraffe; echo Giraffe >&2; exit 2")
    world.hook("agenthooks", "session_start", "echo Giraffe", **{"async": True})  # type: ignore[arg-type]
    world.fire("PreToolUse", "--tool", "Bash", "--input", '{"command": "Giraffe"}')
    world.fire("UserPromptSubmit", "--prompt", "Giraffe")  # no hook for this event: the fast path
    engine = world.engine()
    engine.fire_sync(Event.user_prompt_submit("Giraffe"))
    engine.fire_sync(Event.session_start())
    engine.close_sync()
    settled(world, 5)
    text = b"".join(kept(world)[path] for path in kept(world) if path.endswith("journal.jsonl")).decode()
    plain = text.replace("echo Giraffe", "")  # the hook's own command is not a payload
    assert ("Giraffe" in plain) is (bodies == "full")
    first = world.journal()[0]
    assert first["data"]["tool"] == "Bash"
    assert first["decision"]["verdict"] == "block"
    if bodies == "hashed":
        assert first["data"]["input"]["bytes"] == len('{"command": "Giraffe"}')
        prompts = [record for record in world.journal() if record.get("event") == "user_prompt_submit"]
        assert prompts[0]["data"]["prompt"] == prompts[1]["data"]["prompt"]
        assert first["calls"][0]["run"]["stdout"]["bytes"] == len('"Giraffe\\n"')
    if bodies == "none":
        assert "input" not in first["data"]
        assert "stdout" not in first["calls"][0]["run"]
        assert "reason" not in first["decision"]
    assert box.call("explain", "1")[0] == 0
    assert box.call("verify")[0] == 0


SETTINGS = {
    "bodies = 'some'": "`journal.bodies` must be one of full, hashed, none",
    "keep_days = 0": "`journal.keep_days` must be a whole number from 1 to",
    "keep_mb = true": "`journal.keep_mb` must be a whole number",
    "keep_mb = '5'": "`journal.keep_mb` must be a whole number",
    "keep = 5": "`journal.keep` is not a setting",
}


@pytest.mark.parametrize("text", SETTINGS)
def test_wrong_settings_are_said_and_ignored(world: World, text: str) -> None:
    world.config(f"[journal]\n{text}\n")
    engine = world.engine()
    (problem,) = engine.catalog.problems
    assert (problem.code, problem.what.startswith(SETTINGS[text])) == ("bad-setting", True)
    assert problem.where.endswith(":2")
    # A slip may not make the journal keep more of a call than its user wanted.
    assert engine.catalog.config == Settings(journal={"bodies": "none"} if "bodies" in text else {})


def test_settings_that_are_right(world: World) -> None:
    world.config('[journal]\nbodies = "none"\nkeep_days = 7\nkeep_mb = 16\n')
    engine = world.engine()
    assert engine.catalog.problems == []
    assert engine.catalog.config.journal == {"bodies": "none", "keep_days": 7, "keep_mb": 16}
