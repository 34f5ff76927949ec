"""What a product keeps beside its hooks is not a hook: a key beside the events is judged by its shape. And what a
product's own record of approvals says about our entry."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from anyhook.agents.codex.approvals import approvals, hash_of
from anyhook.tables.registry import DIALECTS

if TYPE_CHECKING:
    from pathlib import Path

    from anyhook.model.json_types import Json
    from conftest import World

GUARD: Json = {"matcher": "*", "hooks": [{"type": "command", "command": "exit 0"}]}
DATA: list[Json] = [True, False, 7, "text", None, {}, {"a": {"trusted_hash": "sha256:0"}}, [], ["a", "b"], [1], [[]]]
MAPPED = {
    "claude": ".claude/settings.json", "codex": ".codex/hooks.json", "gemini": ".gemini/settings.json",
    "qwen": ".qwen/settings.json", "letta": ".letta/settings.json", "codebuddy": ".codebuddy/settings.json",
    "grok": ".grok/hooks/mine.json", "openhands": ".openhands/hooks.json", "droid": ".factory/hooks.json",
    "deepagents": ".deepagents/hooks.json", "muse": "config/muse/settings.json", "mastra": ".mastracode/hooks.json",
    "kodik": "Documents/Kodik/Hooks/hooks.json",
}  # fmt: skip
"""Dialects whose files map events to lists, and where the user's is."""
SEEN_C = "sha256:ff8604d01229a0f7e1615da3d2d27cdd543b2c4892bb482809d52e84942b4e5c"
SEEN_F = "sha256:108f9f9b0ef6a14e211a588f04abfd678df020af966d0d059a9acb9b262e8f9b"
"""Hashes that the product itself gave for two hooks."""
REVIEWED = {
    "SessionStart": (60, "f0112d686201b2a4c1436d5eb8d25b2dde4efb89867b63138d3494f269862bbb"),
    "UserPromptSubmit": (60, "93dcc927e98510f53d13dcaa659dead2c2fa52de2e3dca5a19d0452416b22084"),
    "PreToolUse": (600, "81552d48b101fbbc2b3bf3684a9f0af09abe5f9b49569aac8924c9213ced9d30"),
    "PermissionRequest": (600, "6482975431cabd774ee5ac36890ddcda1a789bf1929b1986fdae9121faa3aa9b"),
    "PostToolUse": (600, "265ee636ee1c43fbaa31c0f53864a32b49645fbb4904e47483000ec71e402820"),
    "SubagentStart": (60, "712a8b9f36d6171cd7a28d2f64bd3cff22fba48aaf7c644d7d59722bbb4b64af"),
    "SubagentStop": (600, "49769a25395283eabb7323b635d4191b7803b243414d0da27bc085049d6f49e2"),
    "PreCompact": (60, "3225742fb0cad9dd382e696f11fff0a7b6c911461585ad55b75c21ceac4b045f"),
    "PostCompact": (60, "1561e894477cdae3fb06ad427b77c9da83f7cc93e22298dadfd5f5adf3201d90"),
    "Stop": (600, "e89e69841ba378012db178bd30892c87ff3c4ff703af4c992276df4a6b9e51a1"),
    "SessionEnd": (3, "a04f3fbea0ad1c0c3feddb4cb701162294738f481adb24e22d74e7c1cb15ccc8"),
}
"""Our entry as `anyhook install codex` writes it, by event: the limit, and what Codex 0.166.0 wrote into its record
when its user chose "Trust all and continue"."""
TOP_LEVEL = ("droid", "mastra")


def told(world: World, *words: str) -> Any:
    return json.loads(world.command("status", "--json", *words).stdout)


def put(world: World, name: str, key: str, value: Json) -> None:
    hooks: Json = {key: value}
    document = hooks if name in TOP_LEVEL else {"hooks": hooks}
    world.write(world.home / MAPPED[name], json.dumps(document))


def test_the_table_is_of_known_dialects() -> None:
    assert set(MAPPED) <= set(DIALECTS)


@pytest.mark.parametrize("name", MAPPED)
@pytest.mark.parametrize("value", DATA, ids=json.dumps)
def test_data_beside_events_is_no_gate_in_any_dialect(world: World, name: str, value: Json) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    if name == "kodik":
        path = world.home / MAPPED[name]
        found = json.loads(path.read_text())
        path.write_text(json.dumps({"hooks": {**found["hooks"], "somethingOfItsOwn": value}}))
    else:
        put(world, name, "somethingOfItsOwn", value)
    world.config('off = "deny"\n')
    status = told(world)
    assert (status["protected"], [gate["state"] for gate in status["gates"]]) == (True, ["armed"])
    assert world.command("check").returncode == 0
    done = world.command("fire", "pre_tool", "--tool", "Bash", "--input", '{"command": "ls"}')
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", MAPPED)
def test_a_list_of_entries_under_an_unknown_name_is_a_broken_gate(world: World, name: str) -> None:
    put(world, name, "PreTolUse", [GUARD])
    [gate] = told(world)["gates"]
    assert (gate["state"], gate["dialect"], gate["event"]) == ("broken", name, None)
    assert world.command("check").returncode == 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".codex/config.toml", '[hooks.state."x:pre_tool_use:0:0"]\ntrusted_hash = "sha256:0"\n'),
        (".gemini/settings.json", '{"hooks": {"enabled": true, "disabled": ["a"], "notifications": false}}'),
        (".qwen/settings.json", '{"hooks": {"enabled": true, "disabled": [], "notifications": true}}'),
        (".letta/settings.json", '{"hooks": {"disabled": false}}'),
    ],
)
def test_the_known_data_of_a_product_is_not_even_a_warning(world: World, path: str, text: str) -> None:
    world.write(world.home / path, text)
    done = world.command("check")
    assert (done.returncode, done.stdout) == (0, "1 hook file read, no problems.\n")


def test_a_switch_beside_the_hooks_turns_them_off(world: World) -> None:
    world.write(world.home / ".letta/settings.json", json.dumps({"hooks": {"disabled": True, "PreToolUse": [GUARD]}}))
    assert [gate["state"] for gate in told(world)["gates"]] == ["disabled"]


@pytest.mark.parametrize(("event", "is_gate"), [("PreToolUse", True), ("Notification", False), ("SessionEnd", False)])
def test_what_is_lost_on_an_event_that_cannot_block_is_no_gate(world: World, event: str, is_gate: bool) -> None:
    """A slip in a hook that could never refuse anything does not make a guard of it."""
    world.write(world.home / ".claude/settings.json", json.dumps({"hooks": {event: [{"hooks": [{"type": "comand"}]}]}}))
    assert [gate["event"] for gate in told(world)["gates"]] == (["pre_tool"] if is_gate else [])
    assert world.command("check").returncode == 1


def test_what_is_lost_closes_only_what_it_guarded(world: World) -> None:
    world.config('off = "deny"\n')
    lost = {"hooks": {"UserPromptSubmit": [{"hooks": [{"type": "comand"}]}]}}
    world.write(world.home / ".claude/settings.json", json.dumps(lost))
    assert world.command("fire", "pre_tool", "--tool", "Bash", "--input", "{}").returncode == 0
    assert world.command("fire", "user_prompt_submit", "--prompt", "x").returncode == 2


def test_a_lost_declaration_of_one_agent_leaves_another_as_it_was(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "claude").returncode == 0
    before = told(world, "claude")["agents"]
    for text in ('{"hooks": {"PreTolUse": [{"hooks": []}]}}', "{broken", '{"hooks": 7}'):
        world.write(world.home / ".codex/hooks.json", text)
        assert told(world, "claude")["agents"] == before


# -- Codex's record of approvals


def approved(world: World, path: Path, **changed: Json) -> str:
    """Its `config.toml` after its user has approved every hook of a file."""
    lines = []
    for event, groups in json.loads(path.read_text())["hooks"].items():
        label = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
        for number, group in enumerate(groups):
            for index, handler in enumerate(group["hooks"]):
                lines += [f'[hooks.state."{path}:{label}:{number}:{index}"]']
                lines += [f'trusted_hash = "{hash_of(label, group, {**handler, **changed})}"']
    return "\n".join(lines) + "\n"


def test_the_hash_is_the_one_that_codex_0_166_0_wrote() -> None:
    """Taken from its own record after a review in its terminal, and from `hooks/list` of `codex app-server`."""
    ours: dict[str, Json] = {"type": "command", "command": "/opt/anyhook bridge codex PreToolUse", "timeout": 600}
    text = '{"event_name":"pre_tool_use","hooks":[{"async":false,"command":"/opt/anyhook bridge codex PreToolUse",'
    text += '"timeout":600,"type":"command"}]}'
    assert hash_of("pre_tool_use", {}, ours) == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    seen: dict[str, Json] = {"type": "command", "command": "c", "additionalContextLimit": 5}
    assert hash_of("pre_tool_use", {"matcher": ""}, seen) == SEEN_C
    assert hash_of("session_start", {"matcher": "startup"}, {"type": "command", "command": "f", "timeout": 5}) == SEEN_F


def reviewed(config: Path) -> tuple[str, dict[str, Any]]:
    """Its `config.toml` after that review, and the entry that was reviewed."""
    lines, hooks = ["[tui]", "screen_reader_detection_done = true", "", "[hooks.state]", ""], {}
    for event, (limit, digest) in REVIEWED.items():
        label = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in event).lstrip("_")
        lines += [f'[hooks.state."{config.parent}/hooks.json:{label}:0:0"]', f'trusted_hash = "sha256:{digest}"', ""]
        command = f"/opt/anyhook/bin/anyhook bridge codex {event} --home /home/user"
        hooks[event] = [{"hooks": [{"type": "command", "command": command, "timeout": limit}]}]
    return "\n".join(lines), {"hooks": hooks}


def test_a_real_review_approves_every_event_of_our_entry(world: World) -> None:
    config = world.home / ".codex/config.toml"
    text, entry = reviewed(config)
    world.write(config, text)
    found = approvals({"config": str(config.parent)}, f"{config.parent}/hooks.json", entry, lambda handler: True)
    assert found == dict.fromkeys(REVIEWED, "given")
    entry["hooks"]["PreToolUse"][0]["hooks"][0]["timeout"] += 1
    found = approvals({"config": str(config.parent)}, f"{config.parent}/hooks.json", entry, lambda handler: True)
    assert found == {**dict.fromkeys(REVIEWED, "given"), "PreToolUse": "changed"}
    done = world.command("check")
    assert (done.returncode, done.stdout) == (0, "1 hook file read, no problems.\n")


def test_every_event_whose_approval_is_stale_is_named(world: World) -> None:
    """`--closed` changes three of the commands that were approved."""
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "codex").returncode == 0
    entry, config = world.home / ".codex/hooks.json", world.home / ".codex/config.toml"
    world.write(config, approved(world, entry))
    assert told(world, "codex")["protected"]
    assert world.command("install", "codex", "--closed").returncode == 0
    status = told(world, "codex")
    row = status["agents"]["codex"]
    assert (status["protected"], row["state"]) == (False, "off")
    assert "another form of the entry for UserPromptSubmit, PreToolUse, PermissionRequest in " in row["why"]


def test_status_says_whether_codex_has_approved_our_entry(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "codex").returncode == 0
    entry, config = world.home / ".codex/hooks.json", world.home / ".codex/config.toml"

    def codex() -> tuple[bool, str, str]:
        status = told(world, "codex")
        row = status["agents"]["codex"]
        return status["protected"], row["state"], row["why"]

    held, state, why = codex()
    assert (held, state, "has not approved the entry for any event" in why, "/hooks" in why) == (
        False, "off", True, True,
    )  # fmt: skip
    world.write(config, approved(world, entry))
    assert codex() == (True, "on", "")
    reason = json.loads(world.command("doctor", "codex", "--json").stdout)["codex"]["reason"]
    assert "not approved" not in reason
    world.write(config, approved(world, entry, timeout=7))
    held, state, why = codex()
    assert (held, state, "approved another form of the entry" in why) == (False, "off", True)
    assert "another form" in json.loads(world.command("doctor", "codex", "--json").stdout)["codex"]["reason"]
    world.write(config, approved(world, entry).replace("trusted_hash", "enabled = false\ntrusted_hash"))
    held, state, why = codex()
    assert (held, state, "turned off" in why) == (False, "off", True)
    world.write(config, "broken = [\n")
    assert codex()[1] != "on"


def test_an_approval_for_another_file_is_none(world: World) -> None:
    world.hook("kodik", "PreToolUse", "exit 0")
    assert world.command("install", "codex").returncode == 0
    entry = world.home / ".codex/hooks.json"
    text = approved(world, entry).replace(str(entry), str(world.project / ".codex/hooks.json"))
    world.write(world.home / ".codex/config.toml", text)
    assert told(world, "codex")["agents"]["codex"]["state"] == "off"
