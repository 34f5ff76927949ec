"""`anyhook new` with existing files: it loses none of their content, and a refusal leaves nothing behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from new_place import Place, texts

from anyhook.documents.parse import parse_toml, parse_yaml
from anyhook.tables.registry import DIALECTS, dialect

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Place:
    return Place(tmp_path, monkeypatch, capfd)


# --- existing files


ENTRY = {"matcher": "Bash", "hooks": [{"type": "command", "command": '"$KODIK_PROJECT_ROOT"/.kodik/hooks/a.sh'}]}
OLD = {
    "zeta": 1,
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "échø"}]}], "PreToolUse": [{"x": 1.5}]},
    "description": "ours",
}
JSON = {
    "one line": json.dumps(OLD), "no blanks": json.dumps(OLD, separators=(",", ":")), "two": json.dumps(OLD, indent=2),
    "tabs": json.dumps(OLD, indent="\t") + "\n", "three and escapes": json.dumps(OLD, indent=3, ensure_ascii=False),
    "carriage returns": json.dumps(OLD, indent=4).replace("\n", "\r\n") + "\r\n",
    "mark": "\ufeff" + json.dumps(OLD, indent=2),
    "odd": ' {\n\n"zeta" :1 ,"hooks":\n   {"Stop": [ {"hooks":[{"type":"command","command":"\\u00e9ch\\u00f8"}]} ],\n'
    '      "PreToolUse" : [{"x":1.50}\n]},   "description":"ours"}\n\n\n',
}  # fmt: skip


@pytest.mark.parametrize("layout", JSON)
def test_json_keeps_every_other_byte(place: Place, layout: str) -> None:
    path = place.project / ".kodik" / "hooks" / "hooks.json"
    path.parent.mkdir(parents=True)
    old = JSON[layout].encode()
    path.write_bytes(old)
    path.chmod(0o640)
    place.new("a", "--dialect", "kodik", "--event", "PreToolUse", "--tool", "Bash")
    new = path.read_bytes()
    wanted = {**OLD, "hooks": {**OLD["hooks"], "PreToolUse": [{"x": 1.5}, ENTRY]}}  # type: ignore[dict-item]
    assert json.loads(new.decode("utf-8-sig")) == wanted
    cut = next(at for at in range(len(old) + 1) if old[: at + 1] != new[: at + 1])
    assert new.endswith(old[cut:]), "one piece was put in, and nothing else was touched"
    assert new.count(b"\r\n") == (new.count(b"\n") if b"\r\n" in old else 0)
    assert path.stat().st_mode & 0o777 == 0o640


def test_json_with_comments_is_left_alone_where_its_dialect_reads_none(place: Place) -> None:
    path = place.project / ".claude" / "settings.json"
    path.parent.mkdir(parents=True)
    path.write_text('{\n  // mine\n  "model": "x"\n}\n')
    message = place.refused("a", "--dialect", "claude", "--event", "PreToolUse")
    assert "remove the comment" in message
    assert "a.sh" in message, "what to add by hand"


def test_a_linked_file_stays_a_link(place: Place, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_text('{"schema_version": 1, "hooks": {}}')
    path = place.project / ".kolega" / "hooks.json"
    path.parent.mkdir()
    path.symlink_to(real)
    place.new("a", "--dialect", "kolega", "--event", "Stop")
    assert path.is_symlink()
    assert "a.sh" in real.read_text()


YAML = {
    "no hooks": "# top\ndefault_model: keep # why\n",
    "no line end": "default_model: keep",
    "comments only": "# nothing yet\n",
    "document mark": "---\na: 1\n",
    "empty hooks": "a: 1\nhooks: # later\nb: 2\n",
    "other event": "hooks:\n  # 1\n  session_end: # x\n    - exec: a # y\n      timeout_ms: 5 # z\n\n# after\nb: 2\n",
    "same event": "hooks:\n    tool_call_pre:\n      # 1\n      - exec: a\n      # 2\n      - exec: [b]\n    # 3\n",
    "indentless": "hooks:\n  tool_call_pre:\n  - exec: a\n  session_end:\n  - exec: b\n",
    "block text": "hooks:\n  tool_call_pre:\n    - exec: |\n        a b\n\nb: 2\n",
    "empty list": "hooks:\n  tool_call_pre: [] # none\n  session_end: []\n",
    "null": "a: 1 # x\nhooks: ~ # none\n",
    "no list": "hooks:\n  tool_call_pre:\n  session_end: []\n",
    "carriage returns": "a: 1\r\nhooks:\r\n  tool_call_pre:\r\n    - exec: a\r\nb: 2\r\n",
    "flow item": "hooks:\n  tool_call_pre:\n    - {exec: a}\n    - {exec: b} # last\n",
    "last and no line end": "hooks:\n  tool_call_pre:\n    - exec: a",
    "other letters": "x: 'ä\u2028ö'\nhooks:\n  tool_call_pre:\n    - exec: ünder\nb: 2\n",
}


@pytest.mark.parametrize("layout", YAML)
def test_yaml_keeps_every_line(place: Place, layout: str) -> None:
    path = place.project / ".kode" / "config.yaml"
    path.parent.mkdir()
    old = YAML[layout]
    path.write_bytes(old.encode())
    before = parse_yaml(old) or {}
    assert isinstance(before, dict)
    place.new("a", "--dialect", "kode", "--event", "tool_call_pre")
    new = path.read_bytes().decode()
    after = parse_yaml(new)
    hooks = before.get("hooks") or {}
    assert isinstance(hooks, dict)
    entries = hooks.get("tool_call_pre") or []
    assert isinstance(entries, list)
    assert after == {**before, "hooks": {**hooks, "tool_call_pre": [*entries, {"exec": ".kode/hooks/a.sh"}]}}
    rest = iter(new.splitlines())
    changed = ("  tool_call_pre: [] # none", "hooks: ~ # none")
    assert all(line in rest for line in old.splitlines() if line not in changed), new
    assert new.count("#") == old.count("#"), "comments stay"
    assert ("\r\n" in old) == ("\r\n" in new)
    assert place.json("list", "--json")[1]["problems"] == [] or layout in ("other letters",)


def test_yaml_entries_stand_where_a_person_would_put_them(place: Place) -> None:
    path = place.project / ".kode" / "config.yaml"
    path.parent.mkdir()
    path.write_text("hooks:\n   session_end:\n   - exec: a # last\n\n# about b\nb: 2\n")
    place.new("one", "--dialect", "kode", "--event", "tool_call_pre")
    place.new("two", "--dialect", "kode", "--event", "session_end")
    assert path.read_text() == (
        "hooks:\n   session_end:\n   - exec: a # last\n   - exec: .kode/hooks/two.sh\n"
        "   tool_call_pre:\n     - exec: .kode/hooks/one.sh\n\n# about b\nb: 2\n"
    )


@pytest.mark.parametrize(
    "old",
    [
        "hooks: {session_end: [{exec: a}]}\n",
        "hooks:\n  tool_call_pre: [{exec: a}]\n",
        "a: 1\n...\n",
        "hooks:\n  - exec: a\n",
        "hooks:\n  tool_call_pre: a\n",
        "hooks: {a\n",
        "- a\n",
        '{"hooks": {}, "hooks": {"session_end": []}}',
        "[1]",
    ],
)
def test_yaml_that_cannot_be_added_to_is_left_alone(place: Place, old: str) -> None:
    path = place.project / ".kode" / "config.yaml"
    path.parent.mkdir()
    path.write_text(old)
    said = place.refused("a", "--dialect", "kode", "--event", "tool_call_pre")
    assert str(path) in said
    assert ".kode/hooks/a.sh" in said, "what to add by hand"


def test_toml_gets_a_block_at_its_end(place: Place) -> None:
    path = place.project / ".kodik" / "hooks" / "hooks.toml"
    path.parent.mkdir(parents=True)
    old = '# ours\n[[hooks.PreToolUse]]\nmatcher = "x" # y\n[[hooks.PreToolUse.hooks]]\ntype = "command"\ncommand = "a"'
    path.write_text(old)
    before = parse_toml(old)
    made = place.new("a", "--dialect", "kodik", "--event", "PreToolUse", "--tool", "Bash\\d")
    new = path.read_text()
    assert new.startswith(old + "\n")
    entry = {"matcher": "Bash\\d", "hooks": [{"type": "command", "command": '"$KODIK_PROJECT_ROOT"/.kodik/hooks/a.sh'}]}
    assert isinstance(before, dict)
    assert isinstance(before["hooks"], dict)
    assert isinstance(before["hooks"]["PreToolUse"], list)
    assert parse_toml(new) == {"hooks": {"PreToolUse": [*before["hooks"]["PreToolUse"], entry]}}
    assert not (path.parent / "hooks.json").exists()
    assert place.fire(texts(made["try"])[1], "--tool", "Bash7", "--trust", "all")[0] == 2


def test_toml_with_a_list_in_line_is_left_alone(place: Place) -> None:
    path = place.project / ".kodik" / "hooks" / "hooks.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[hooks]\nStop = []\n")
    assert "[[hooks.Stop]]" in place.refused("a", "--dialect", "kodik", "--event", "Stop")


@pytest.mark.parametrize(
    "old",
    ["{ half", '{"hooks": {}}', '{"schema_version": 2, "hooks": {}}', '{"schema_version": 1, "hooks": []}', "\xff\xfe"],
)
def test_json_that_would_not_be_read_is_left_alone(place: Place, old: str) -> None:
    path = place.project / ".kolega" / "hooks.json"
    path.parent.mkdir()
    path.write_bytes(old.encode("latin-1"))
    assert "hooks.json" in place.refused("a", "--dialect", "kolega", "--event", "Stop")


@pytest.mark.parametrize("name", ["kode", "kodik", "kolega"])
def test_many_at_once_lose_nothing(place: Place, name: str) -> None:
    words = [sys.executable, "-m", "anyhook", "new", "--dialect", name, "--event", "pre_tool"]
    started = [subprocess.Popen([*words, f"n{number}"], stdout=subprocess.PIPE) for number in range(6)]
    for each in started:
        each.communicate(timeout=240)
    assert [each.returncode for each in started] == [0] * 6
    hooks = place.json("list", "--json")[1]["hooks"]
    assert isinstance(hooks, list)
    assert sorted(str(hook["name"]) for hook in hooks if isinstance(hook, dict)) == [
        f"n{number}.sh" for number in range(6)
    ]


# --- refusals


WRITABLE = [name for name in DIALECTS if dialect(name).scaffold is not None]
"""Dialects for which `anyhook new` writes hooks."""


def scope_of(name: str) -> str:
    """`project`, unless the dialect reads no project files."""
    scaffold = dialect(name).scaffold
    assert scaffold is not None
    return "project" if "project" in scaffold.scripts else "user"


def is_named(name: str) -> bool:
    """Whether the dialect names a file after the hook, not after the event."""
    scaffold = dialect(name).scaffold
    assert scaffold is not None
    return scaffold.shape != "events"


@pytest.mark.parametrize("name", [name for name in WRITABLE if is_named(name)])
@pytest.mark.parametrize("lang", ["bash", "python"])
def test_the_same_name_twice_is_refused(place: Place, name: str, lang: str) -> None:
    place.new("guard", "--dialect", name, "--event", "pre_tool", "--scope", scope_of(name))
    other = dialect(name).events[-1].native
    assert "guard" in place.refused(
        "guard", "--dialect", name, "--event", other, "--lang", lang, "--scope", scope_of(name)
    )


@pytest.mark.parametrize("name", [name for name in WRITABLE if not is_named(name)])
def test_a_second_program_for_one_event_is_refused(place: Place, name: str) -> None:
    place.new("guard", "--dialect", name, "--event", "pre_tool", "--scope", scope_of(name))
    assert "is there already" in place.refused(
        "other", "--dialect", name, "--event", "pre_tool", "--scope", scope_of(name)
    )


def test_a_rule_does_not_take_the_name_of_a_function(place: Place) -> None:
    place.new("guard", "--dialect", "anyhook", "--event", "pre_tool", "--lang", "python", "--scope", "user")
    words = ("--dialect", "anyhook", "--event", "pre_tool", "--scope", "user")
    assert "function 'guard'" in place.refused("guard", *words)


def test_a_name_that_another_folder_has_is_refused(place: Place) -> None:
    path = place.project / ".agents" / "hooks" / "other" / "HOOK.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: guard\ndescription: x\ntrigger: before_tool\n---\n")
    assert "other" in place.refused("guard", "--dialect", "agenthooks", "--event", "stop")


def test_a_name_that_is_turned_off_is_refused(place: Place) -> None:
    place.new("guard", "--dialect", "kodelet", "--event", "pre_tool")
    (place.project / ".kodelet/hooks/guard").rename(place.project / ".kodelet/hooks/guard.disable")
    place.refused("guard", "--dialect", "kodelet", "--event", "pre_tool")
    place.refused("guard.disable", "--dialect", "kodelet", "--event", "pre_tool")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../a", "a b", ".a", "a.", "-a", "a'b", "ä", "a\n", "a" * 65])
def test_names_that_are_none(place: Place, name: str) -> None:
    place.refused("--dialect", "kodelet", "--event", "pre_tool", "--", name)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--dialect", "kodik", "--event", "session_end"), "PermissionRequest"),
        (("--dialect", "kodik", "--event", "PreTolUse"), "Did you mean `PreToolUse`?"),
        (("--dialect", "kodik"), "PermissionRequest"),
        (("--event", "pre_tool"), "agenthooks"),
        (("--dialect", "kodik", "--dialect", "kode", "--event", "pre_tool"), "one dialect"),
        (("--dialect", "nope", "--event", "pre_tool"), "nope"),
        (("--dialect", "kodik", "--event", "pre_tool", "--lang", "perl"), "perl"),
        (("--dialect", "kodik", "--event", "pre_tool", "--scope", "plugin"), "plugin"),
        (("--dialect", "kodik", "--event", "Stop", "--tool", "x"), "PreToolUse"),
        (("--dialect", "kodik", "--event", "pre_tool", "--tool", "("), "pattern"),
        (("--dialect", "agenthooks", "--event", "pre_tool", "--tool", "a\nb"), "--tool"),
        (("--dialect", "kodik", "--event", "pre_tool", "--project", "/no/such/folder"), "/no/such/folder"),
    ],
)
def test_calls_that_make_no_sense(place: Place, words: tuple[str, ...], said: str) -> None:
    assert said in place.refused("guard", *words)


@pytest.mark.parametrize("name", [name for name in WRITABLE if scope_of(name) == "project"])
def test_a_folder_that_cannot_be_made_leaves_nothing(place: Place, name: str) -> None:
    """A file blocks the path of one of the hook's folders."""
    folders = {
        "kode": ".kode/hooks", "kolega": ".kolega/hooks", "agenthooks": ".agents", "copilot": ".github",
        "goose": ".agents",
    }  # fmt: skip
    scaffold = dialect(name).scaffold
    assert scaffold is not None
    first = scaffold.scripts["project"].removeprefix("{project}/").partition("/")[0]
    folder = folders.get(name) or (f".{name}" if first.startswith("{") else first)
    (place.project / folder).parent.mkdir(exist_ok=True)
    (place.project / folder).write_text("in the way")
    said = place.refused("guard", "--dialect", name, "--event", "pre_tool")
    assert folder in said
    assert "already" not in said


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unwritable for root")
def test_a_folder_without_permission(place: Place) -> None:
    place.project.chmod(0o555)
    try:
        assert "ermission" in place.refused("guard", "--dialect", "kodik", "--event", "pre_tool")
    finally:
        place.project.chmod(0o755)


def test_no_home_no_user(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME")
    assert "HOME" in place.refused("guard", "--dialect", "kode", "--event", "pre_tool", "--scope", "user")


def test_a_declaration_that_cannot_be_written_takes_the_script_back(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = place.project / ".kolega" / "hooks.json"
    path.parent.mkdir()
    path.write_text('{"schema_version": 1, "hooks": {}}')

    def full(_from: str, _to: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert "No space left" in place.refused("guard", "--dialect", "kolega", "--event", "Stop")
