"""No secret of `tests/data/secrets.json` reaches the model through a tool's output or a prompt (contract, §15); what
only looks similar stays, and so does everything around a secret."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from test_law_secrets import INNOCENT, KINDS, contexts, holds

from anyhook.journal.shown import secrets_in, without_secrets
from each_of import each_of

if TYPE_CHECKING:
    from anyhook.model.json_types import Json
    from conftest import World

PUBLISHED = (
    "AKIAIOSFODNN7EXAMPLE", "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "API_KEY=${API_KEY}",
    "token: changeme", "GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "password: <your password>",
    "sk_test_4eC39HqLyjWDarjtT1zdp7dc", "DB_PASSWORD=your-password-here", "secret_key = os.environ['SECRET_KEY']",
)  # fmt: skip
"""Placeholders, variables, and examples from vendors' documents."""
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@each_of("kind", KINDS)
def test_no_secret_of_the_table_is_shown(kind: str) -> None:
    text, secret = KINDS[kind]
    for value in (text, f"first\n{text}\nlast\n", *contexts(text)):
        made, kinds = without_secrets(value)
        assert kinds, value
        assert not holds(json.dumps(made), secret), value


def test_what_looks_similar_is_shown() -> None:
    """One in fifty may be taken for a secret."""
    touched = [text for text in INNOCENT if any(without_secrets(value)[1] for value in (text, *contexts(text)))]
    assert len(touched) * 50 <= len(INNOCENT), touched


@pytest.mark.parametrize(
    "text",
    [
        "--syntax-token: #24292e; --token-key:#d73a49ff;", "is_pass = program.name in names",
        "token_normalize_func = parent.token_normalize_func", "for secret in deed.secrets:\n    kept = 1",
        "def wanted(hooks):\n    by_day = by_secret = by_file = by_spent = False\n",
        "class Lexer:\n    def next(self):\n        self.token = nextchar\n",
        "def is_found(path: str, secret: PathPattern, places: Places) -> bool:\n",
        "import base64\n\ntoken = base64.b64encode(given)\n", "func read(p string) {\n  token = next(p)\n}\n",
        "  12\tdef unix_getpass(prompt='Password: ', stream=None):\n  13\t    return read(prompt)\n",
        'print("shlex: token=" + repr(raw))', 'api_key_env = "OPENAI_API_KEY"', "# ------------\n# Token estimation\n",
        "if pwd:\n    try:\n        return 1\n", "APP_KEY=\nDB_HOST=mysql\nDB_PASSWORD=\n",
    ],
)  # fmt: skip
def test_source_code_in_a_text_is_shown(text: str) -> None:
    assert without_secrets(text) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        "password: 'horse.staple'", "password:\n  hunter2 and more", "password = horse", "don't: password: 'horse'",
        "[db]\npassword = horse_staple\n", "import os\npassword=horse\n", "def f():\n  password = 'horse'\n",
    ],
)  # fmt: skip
def test_a_value_that_is_not_code_is_not_shown(text: str) -> None:
    assert without_secrets(text)[1] == ("password",)


@pytest.mark.parametrize("text", PUBLISHED)
def test_placeholders_and_published_examples_are_shown(text: str) -> None:
    assert without_secrets(text) == (text, ())


def test_everything_else_stays_byte_for_byte() -> None:
    around = ('{ "a":1,\t"é": "\\u00e9",\r\n  "token": "', '" }  \x0c\n')
    assert without_secrets(TOKEN.join(around)) == ("[secret: GitHub token]".join(around), ("GitHub token",))
    long = "".join(f"line {number} of a build, {number * 7} files\n" for number in range(20_000))
    assert without_secrets(long) == (long, ())
    assert without_secrets(f"{long}{TOKEN}\n{long}")[0] == f"{long}[secret: GitHub token]\n{long}"
    assert list(secrets_in({"stdout": [f"{long}{TOKEN}\n"]})) == [TOKEN]
    shown = {"stdout": f"{long}[secret: GitHub token]\n{long}", "password": "[secret: password]"}
    assert without_secrets({"stdout": f"{long}{TOKEN}\n{long}", "password": long})[0] == shown


FILLER = "".join(f"def part_{number}(keys, passed, author='x'):  # a - b --c :: {{}}\n" for number in range(150))


@each_of("kind", KINDS)
def test_no_secret_is_shown_in_a_long_text(kind: str) -> None:
    """It is found wherever it is, and nothing else is changed."""
    text, secret = KINDS[kind]
    for before, behind in ((FILLER, FILLER), (f"{FILLER}x = ", ""), ("", f"\n{FILLER}")):
        whole = f"{before}{text}\n{behind}"
        made, kinds = without_secrets(whole)
        assert isinstance(made, str)
        assert kinds, (before[:8], text)
        assert not holds(made, secret), made[len(before) :][:400]
        assert made.startswith(before.rpartition("\n")[0])
        assert not behind or made.endswith(FILLER[len(FILLER) // 2 :])


@pytest.fixture
def guarded(world: World) -> World:
    assert world.command("add", "redact", "--yes").returncode == 0
    return world


def after(world: World, *words: str, event: str = "post_tool") -> dict[str, Any]:
    return dict(world.fire(event, "--tool", "Bash", "--input", '{"command": "env"}', *words))


def test_a_tools_output_is_replaced_in_its_shape(guarded: World) -> None:
    assert after(guarded, "--output", f"A=1\nT={TOKEN}\n")["tool_output"] == "A=1\nT=[secret: GitHub token]\n"
    shaped = after(guarded, "--output", json.dumps({"stdout": f"T={TOKEN}", "code": 0}))
    assert shaped["tool_output"] == {"stdout": "T=[secret: GitHub token]", "code": 0}
    assert after(guarded, "--output", "A=1\nB=2\n")["tool_output"] is None


def test_a_failed_tools_message_is_replaced(guarded: World) -> None:
    failed = after(guarded, "--tool-error", f"cannot use {TOKEN}", event="post_tool_failure")
    assert failed["tool_output"] == "cannot use [secret: GitHub token]"


def test_a_prompt_with_a_secret_is_refused(guarded: World) -> None:
    refused = guarded.fire("user_prompt_submit", "--prompt", f"use {TOKEN} to push")
    assert refused["verdict"] == "block"
    assert "GitHub token" in refused["reason"]
    assert TOKEN not in json.dumps(refused["reason"])
    assert guarded.fire("user_prompt_submit", "--prompt", "push it")["verdict"] == "none"


def test_an_agent_gets_its_own_shape(guarded: World) -> None:
    payload = {
        "hook_event_name": "PostToolUse", "session_id": "s", "cwd": str(guarded.project), "tool_name": "Bash",
        "tool_input": {"command": "env"}, "tool_response": {"stdout": f"T={TOKEN}", "stderr": "", "interrupted": False},
        "transcript_path": "", "tool_use_id": "t1",
    }  # fmt: skip
    done = guarded.command("bridge", "claude", "PostToolUse", stdin=json.dumps(payload))
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["updatedToolOutput"]["stdout"] == "T=[secret: GitHub token]"
    assert TOKEN not in done.stdout


def test_where_outputs_cannot_be_replaced_status_says_so(guarded: World) -> None:
    for agent, state in (("claude", "armed"), ("qwen", "uncovered")):
        assert guarded.command("install", agent).returncode == 0
        seen = json.loads(guarded.command("status", agent, "--json").stdout)
        gates = seen["agents"][agent]["gates"] if "gates" in seen["agents"][agent] else seen["gates"]
        found = {gate["state"] for gate in gates if gate["id"].endswith("post_tool:tool-output")}
        assert found == {state}, (agent, found)


@pytest.mark.parametrize("text", ["is_pass = program.name in names", "token = lexer.next(stream) + 1"])
def test_an_output_in_an_object_is_read_as_it_is_alone(text: str) -> None:
    shapes: list[Json] = [text, {"stdout": text, "stderr": ""}, {"content": [{"type": "text", "text": text}]}]
    for value in shapes:
        assert without_secrets(value) == (value, ())


GUTTERS = ("12\t", "00012| ", "12: ", "     12→", "12|", "12:", "L12: ", "> ", "+ ", "+", "-")
"""What tools put before each line of a file: numbers, and the signs of a diff or a quote."""


@each_of("kind", KINDS)
def test_no_secret_is_shown_behind_a_line_number(kind: str) -> None:
    text, secret = KINDS[kind]
    for gutter in GUTTERS:
        made, _ = without_secrets("".join(f"{gutter}{line}\n" for line in ("first", *text.split("\n"), "last")))
        assert isinstance(made, str)
        assert not holds(made, secret), (gutter, made)
        assert made.startswith(f"{gutter}first\n")
