"""Trust, with the installed command: what needs approval, what the user sees and is asked, and what gets approved."""

from __future__ import annotations

import json
import os
import pty
from pathlib import Path

import pytest
from trust_box import COMMAND, Box, approved, five

from anyhook.rules.pack_list import path_of, read_pack


@pytest.fixture
def box(tmp_path: Path) -> Box:
    return Box(tmp_path.resolve())


def test_nothing_of_an_unapproved_project_is_started_imported_or_asked(box: Box) -> None:
    five(box)
    for event in ("session_start", "user_prompt_submit", "pre_tool", "post_tool", "stop", "session_end"):
        box.run("fire", event, "--tool", "Bash", "--json")
    box.run("explain", "pre_tool", "--tool", "Bash")
    for words in (("list",), ("list", "--json"), ("check",)):
        box.run(*words, status=None)
    box.run("trust", status=1)
    box.run("trust", "--json", status=1)
    assert box.logged() == ""
    assert box.fire() == ["untrusted"] * 6
    box.run("trust", "--yes")
    assert box.logged() == "kodelet-hook\n", "the executable was asked for its event, and nothing else was started"
    assert box.fire() == ["ran"] * 6
    started = box.logged().split()
    assert started == ["kodelet-hook", "kode", "kodik", "agenthooks", "kolega", "python", "kodelet-run"]


def test_an_empty_project_needs_no_approval(box: Box) -> None:
    assert b"no hooks" in box.run("trust").stdout
    assert box.json("trust", "--json") == {"project": str(box.project), "approved": True, "items": [], "problems": []}
    assert not box.state.joinpath("trust.json").exists()


# --- what the user sees


def test_a_change_is_shown_as_a_difference(box: Box) -> None:
    approved(box)
    box.write("x.sh", f"#!/bin/bash\necho ran >> '{box.log}'\necho more\n", 0o755)
    box.kodik("./x.sh --loud")
    shown = box.run("trust", status=1).stdout.decode()
    assert box.listed() == ["changed"]
    assert "CHANGED  kodik:project:PreToolUse:x.sh" in shown
    declared = ('-    "command": "./x.sh",', '+    "command": "./x.sh --loud",')
    for line in (*declared, "-#!/bin/sh", "+#!/bin/bash", "+echo more"):
        assert f"\n    {line}\n" in shown, line
    assert "x.sh  sha256:" in shown
    box.kodik("true")
    shown = box.run("trust", status=1).stdout.decode()
    assert "REMOVED  kodik:project:PreToolUse:x.sh" in shown
    assert "NEW  kodik:project:PreToolUse:true" in shown


def test_what_it_takes_from_the_user_is_said(box: Box) -> None:
    config = "hooks:\n  tool_call_pre:\n    - exec: /bin/true\n  session_start:\n    - exec: /bin/true\n"
    box.write(".config/kode/config.yaml", config, base=box.home)
    box.write(".kode/config.yaml", "hooks:\n  tool_call_pre: []\n  session_start:\n    - exec: /bin/false\n")
    shown = box.run("trust", status=1).stdout.decode()
    assert "switches off the user's hooks of tool_call_pre: kode:user:tool_call_pre:true" in shown
    assert "takes the place of kode:user:session_start:true" in shown
    items = {item["id"]: item for item in box.json("trust", "--json", status=1)["items"]}
    assert items["kode:project:tool_call_pre:[]"]["overrides"] == ["kode:user:tool_call_pre:true"]
    assert {item["status"] for item in items.values()} == {"new"}


def test_nothing_of_the_project_steers_the_terminal(box: Box) -> None:
    name = "bell\x07\x1b]0;title\x1b\\line\nfeed\u202e.sh"
    box.write(name, "#!/bin/sh\n# \x1b[2J\x1b[1A hidden\r# visible \u202e\u2066 \x9b2J\n", 0o755)
    box.kodik(f"sh './{name}'", "echo \x1b[8m secret \x9b0m")
    others = (("list",), ("check",), ("explain", "pre_tool"), ("fire", "pre_tool"))
    for words in (("trust",), ("trust", "--json"), ("trust", "--yes"), ("trust", "--list"), *others):
        done = box.run(*words, status=None)
        text = (done.stdout + done.stderr).decode()
        assert not [char for char in text if char != "\n" and not char.isprintable()], words
    assert box.json("trust", "--json")["items"][1]["runs"]["command"] == "echo \x1b[8m secret \x9b0m"
    shown = box.run("trust").stdout.decode()
    assert "\\x1b[8m secret \\x9b0m" in shown
    assert "line\\nfeed\\u202e.sh" in shown


def test_a_long_script_is_cut_where_it_is_said(box: Box) -> None:
    box.write("x.sh", "#!/bin/sh\n" + "".join(f"echo {number}\n" for number in range(1000)) + "x" * 5000, 0o755)
    box.kodik("./x.sh")
    shown = box.run("trust", status=1).stdout.decode()
    assert "+echo 300\n" in shown
    assert "+echo 999\n" not in shown
    assert f"more lines; read them in {box.project}/x.sh]" in shown
    assert "echo 999" in box.json("trust", "--json", status=1)["items"][0]["diff"]


def test_bad_calls_say_so(box: Box) -> None:
    for words in (("--list", "--revoke"), ("--list", "--yes"), ("--frob",), ("--dialect", "nonsense")):
        done = box.run("trust", *words, status=3)
        assert done.stdout == b""
        assert done.stderr
    box.run("trust", project=box.root / "nowhere", status=3)


# --- the question


class Terminal:
    """The command in its own terminal."""

    def __init__(self, box: Box, *words: str) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(box.root)
            os.execve(COMMAND[0], [*COMMAND, *words, "--project", str(box.project)], box.env)
        self.seen = b""

    def until(self, words: bytes) -> None:
        while words not in self.seen:
            self.seen += os.read(self.fd, 4096)

    def answer(self, keys: bytes) -> int:
        """Type an answer and wait for the process to end. Returns its exit status."""
        os.write(self.fd, keys)
        return self.end()

    def end(self) -> int:
        while True:
            try:
                data = os.read(self.fd, 4096)
            except OSError:
                break
            if not data:
                break
            self.seen += data
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.mark.parametrize(
    ("keys", "status"),
    [(b"y\n", 0), (b"YES\n", 0), (b"n\n", 1), (b"\n", 1), (b"yup\n", 1), (b"\x03", 1), (b"\x04", 1)],
    ids=["y", "YES", "n", "empty", "something else", "Ctrl-C", "end of input"],
)
def test_in_a_terminal_a_person_is_asked(box: Box, keys: bytes, status: int) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    terminal = Terminal(box, "trust")
    terminal.until(b"[y/N]")
    assert terminal.answer(keys) == status, terminal.seen
    assert b"Traceback" not in terminal.seen
    assert box.fire() == (["ran"] if status == 0 else ["untrusted"])


def test_exactly_what_was_shown_is_approved(box: Box) -> None:
    box.script("x.sh", "shown")
    box.kodik("./x.sh")
    terminal = Terminal(box, "trust")
    terminal.until(b"[y/N]")
    box.script("x.sh", "swapped")
    assert terminal.answer(b"y\n") == 0
    assert box.fire() == ["untrusted"]
    box.script("x.sh", "shown")
    assert box.fire() == ["ran"]
    assert box.logged() == "shown\n"


def test_nobody_is_asked_where_nothing_waits_or_a_program_reads(box: Box) -> None:
    box.script("x.sh", "ran")
    box.kodik("./x.sh")
    assert Terminal(box, "trust", "--json").end() == 1
    assert Terminal(box, "fire", "pre_tool", "--tool", "Bash").end() == 0
    assert box.logged() == ""
    box.run("trust", "--yes")
    assert Terminal(box, "trust").end() == 0


PACKS = ("files", "git")
RULES = sum(len(read_pack(pack).rules) for pack in PACKS)
USED = f"use = {json.dumps(PACKS)}\n"
UNCHANGED = f"{RULES} rules of anyhook's own packs (files, git), unchanged: they can only refuse or ask."


def test_unchanged_packs_are_one_line_and_one_yes(box: Box) -> None:
    box.write(".anyhook/hooks.toml", USED)
    shown = box.run("trust", status=1).stdout.decode()
    assert shown.count("\n") == 3
    assert shown.startswith(f"NEW  {UNCHANGED}")
    assert box.run("trust", "--all", status=1).stdout.decode().count("NEW  anyhook:project:") == RULES
    terminal = Terminal(box, "trust")
    terminal.until(b"[y/N]")
    assert terminal.answer(b"y\n") == 0
    assert box.listed() == ["armed"] * RULES
    assert box.run("trust").stdout.decode().startswith(f"APPROVED  {UNCHANGED}")


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ('[[relax]]\nrule = "git/forced-push"\nthen = "ask"\n', "forced-push"),
        ('[[relax]]\nrule = "git/forced-push"\nexcept = []\n', "forced-push"),
        ('[[relax]]\nrule = "git/forced-push"\nunless = "runs git"\n', "forced-push"),
        ('[[rule]]\nname = "own"\nwhen = "runs x"\nthen = "deny"\n', "own"),
        ('[[rule]]\nname = "forced-push"\nwhen = "runs x"\nthen = "run"\nrun = "true"\n', "forced-push"),
    ],
)
def test_what_a_project_changes_or_adds_is_shown_in_full(box: Box, more: str, named: str) -> None:
    box.write(".anyhook/hooks.toml", f"{USED}{more}")
    shown = box.run("trust", status=1).stdout.decode()
    [first] = [line for line in shown.splitlines() if line.startswith("NEW  anyhook:project:")]
    assert first.endswith(f":{named}")


def test_a_copy_of_a_pack_and_packs_that_do_more_are_shown_in_full(box: Box) -> None:
    """Only what is in anyhook's own package, and only rules that refuse or ask."""
    with open(path_of("git"), encoding="utf-8") as file:
        box.write(".anyhook/git.toml", file.read())
    box.write(".anyhook/hooks.toml", 'use = ["./git.toml", "notify", "loops"]\n')
    shown = box.run("trust", status=1).stdout.decode()
    assert shown.count("NEW  anyhook:project:git:") == len(read_pack("git").rules)
    assert shown.count("NEW  anyhook:project:notify:") == len(read_pack("notify").rules)
    assert "(loops), unchanged" in shown
    assert shown.count("NEW  anyhook:project:loops:") == 2, "one of its rules tells the model something, at two events"


def test_the_list_of_approvals_names_a_pack_once(box: Box) -> None:
    box.write(".anyhook/hooks.toml", USED)
    box.run("trust", "--yes")
    listed = box.run("trust", "--list").stdout.decode()
    assert f"anyhook:project:git: {len(read_pack('git').rules)} of them" in listed
    assert listed.count("anyhook:project:") == len(PACKS)
    assert box.run("trust", "--list", "--all").stdout.decode().count("anyhook:project:") == RULES
