"""Our plug-ins for agents without command hooks, run under Node and called as those agents call them."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from anyhook.install.entries import EntryStart, own_text
from anyhook.model.firing import Answer
from anyhook.tables.registry import INSTALLABLE, host

CALLERS = Path(__file__).with_name("plugin_callers.mjs")
AGENTS = tuple(name for name in INSTALLABLE if getattr(host(name).entry, "style", "") == "module")
WAYS = (*AGENTS, "opencode:2")
"""The agents, and the second way in which one of them calls the same plug-in."""
INPUT = {"command": "ls"}
SLOW = "#!/bin/sh\nexec sleep 600\n"
DEAD = {
    "missing": None,
    "not executable": "",
    "fails": "#!/bin/sh\nexit 1\n",
    "lost its interpreter": "#!/no/such/python\n",
    "killed": "#!/bin/sh\nkill -9 $$\n",
    "too slow": SLOW,
    "another program": "#!/bin/sh\necho hello\n",
}
"""Ways in which our launcher can behave."""

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="Node is not installed")


def plugin(folder: Path, agent: str, launcher: str | None, closed: bool) -> str:
    """Write our plug-in in a separate folder, with this text as the launcher."""
    table = host(agent.partition(":")[0])
    assert table.entry is not None
    folder.mkdir()
    program, path = folder / "anyhook", folder / "plugin.mjs"
    if launcher is not None:
        program.write_text(launcher)
        program.chmod(0o755 if launcher else 0o644)
    refusals = {row.native: Answer("", "closed", 2) for row in table.events} if closed else {}
    text = own_text(table, table.entry, EntryStart((str(program),)), refusals)
    waits = next(line for line in text.splitlines() if line.startswith("const SECONDS"))
    path.write_text(text.replace(waits, "const SECONDS = 0.2") if launcher == SLOW else text)
    return str(path)


def called(agent: str, plugins: list[str], **more: bool) -> list[dict[str, Any]]:
    """Call each plug-in once; returns the results."""
    words = ["node", str(CALLERS), agent, json.dumps({**INPUT, **more}), *plugins]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = json.loads(done.stdout)
    return found


def test_every_plugin_has_a_caller() -> None:
    text = CALLERS.read_text()
    assert [agent for agent in AGENTS if f"  {agent}:" not in text] == []


@pytest.mark.parametrize("agent", WAYS)
def test_an_answer_is_obeyed(tmp_path: Path, agent: str) -> None:
    others = {"command": "pwd"}
    table = host(agent.partition(":")[0])
    said = next(row for row in table.events if "pre_tool" in row.canonical).says["input"].json
    rewrite = json.dumps(dict.fromkeys(said, others))
    plugins = [
        plugin(tmp_path / "silent", agent, "#!/bin/sh\ncat >/dev/null\n", closed=True),
        plugin(tmp_path / "refusing", agent, "#!/bin/sh\necho no >&2; exit 2\n", closed=False),
        plugin(tmp_path / "rewriting", agent, f"#!/bin/sh\ncat >/dev/null; echo '{rewrite}'\n", closed=True),
        plugin(tmp_path / "gone", agent, None, closed=False),
    ]
    assert called(agent, plugins) == [{"input": INPUT}, {"refused": "no"}, {"input": others}, {"input": INPUT}]


def test_openclaws_prompts_get_context_and_are_refused(tmp_path: Path) -> None:
    """Its document: context is added while the prompt is built, and a refusal comes after that. Hooks are asked
    once."""
    counting = '#!/bin/sh\ncat >/dev/null; echo >>"$0.calls"; '
    plugins = [
        plugin(tmp_path / "adding", "openclaw", f'{counting}echo \'{{"context": "be brief"}}\'\n', closed=True),
        plugin(tmp_path / "refusing", "openclaw", f"{counting}echo no >&2; exit 2\n", closed=False),
        plugin(tmp_path / "silent", "openclaw", counting, closed=True),
        plugin(tmp_path / "gone", "openclaw", None, closed=True),
    ]
    *found, gone = called("openclaw:prompt", plugins)
    assert found == [{"context": "be brief"}, {"refused": "no"}, {"context": ""}]
    assert "anyhook cannot be run" in gone["refused"]
    calls = [(tmp_path / name / "anyhook.calls").read_text() for name in ("adding", "refusing", "silent")]
    assert calls == ["\n"] * 3


@pytest.mark.parametrize("agent", WAYS)
def test_a_closed_plugin_refuses_without_us(tmp_path: Path, agent: str) -> None:
    plugins = [plugin(tmp_path / how.replace(" ", "-"), agent, text, closed=True) for how, text in DEAD.items()]
    found = dict(zip(DEAD, called(agent, plugins), strict=True))
    assert {how: "anyhook cannot be run" in row.get("refused", "") for how, row in found.items()} == dict.fromkeys(
        DEAD, True
    )


@pytest.mark.parametrize("agent", WAYS)
def test_a_call_that_cannot_be_told_is_refused(tmp_path: Path, agent: str) -> None:
    """Without its input, no guard can judge the call."""
    silent = plugin(tmp_path / "silent", agent, "#!/bin/sh\ncat >/dev/null\n", closed=False)
    [found] = called(agent, [silent], itself=True)
    assert "circular" in found["refused"]


def test_opencode_2_has_other_names_for_fields(tmp_path: Path) -> None:
    """Its document: `execute.before` may change the input, `execute.after` the result, `prompt` the text."""
    answers = {
        "tool.execute.before": {"args": {"filePath": "/b", "limit": 3}},
        "tool.execute.after": {"output": "[secret]"},
        "chat.message": {"context": "be brief"},
    }
    lines = "".join(f"  {event}) echo '{json.dumps(said)}' ;;\n" for event, said in answers.items())
    launcher = f'#!/bin/sh\ncat >>"$0.read"; echo >>"$0.read"\ncase "$3" in\n{lines}esac\n'
    path = plugin(tmp_path / "answering", "opencode", launcher, closed=True)
    words = ["node", str(CALLERS), "opencode:2:read", json.dumps({"path": "/a", "limit": 3}), path]
    [found] = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout)
    assert found == {
        "input": {"path": "/b", "limit": 3},
        "prompt": "go\n\nbe brief",
        "result": {"content": [{"type": "text", "text": "[secret]"}]},
    }
    payloads = [json.loads(line) for line in (tmp_path / "answering/anyhook.read").read_text().splitlines()]
    before = next(payload for payload in payloads if "args" in payload.get("output", {}))
    assert before["input"] == {"tool": "read", "sessionID": "s", "callID": "c"}
    assert before["output"]["args"] == {"filePath": "/a", "limit": 3}


def test_opencode_1_may_call_the_second_form_without_anything_to_hook(tmp_path: Path) -> None:
    """Version 1.18 boots parts of version 2: `setup` gets a context without tools, and `server` is what counts."""
    path = plugin(tmp_path / "silent", "opencode", "#!/bin/sh\ncat >/dev/null\n", closed=True)
    assert called("opencode:bare", [path]) == [{"server": True}]
