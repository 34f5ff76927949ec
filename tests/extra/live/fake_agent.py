"""A minimal agent: it asks its model over a real connection, calls the commands of its hooks config before each tool,
obeys them or not, and runs the tool. A file FAKE_AGENT in its folder says how it misbehaves: `deaf` calls no hooks,
`rude` runs what was refused, `stuck` never ends, `mute` asks no model, `bare` offers no tools, `odd` offers only an
unknown one, `shy` never runs a tool, `litter` leaves a process behind."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

MANNERS = (Path(__file__).parent / "FAKE_AGENT").read_text().split()
TOOL = {"name": "shell", "parameters": {"properties": {"command": {"type": "string"}}, "required": ["command"]}}


def ask(messages: list[dict[str, Any]]) -> dict[str, Any]:
    tool = {**TOOL, "name": "ponder"} if "odd" in MANNERS else TOOL
    tools = [] if "bare" in MANNERS else [{"type": "function", "function": tool}]
    body = json.dumps({"model": "any", "messages": messages, "tools": tools}).encode()
    host, port = os.environ["OPENAI_HOST"].removeprefix("http://").split(":")
    head = f"Host: {host}\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close"
    with socket.create_connection(
        (host, int(port))
    ) as wire:  # a client library takes longer to load than this whole file
        wire.sendall(f"POST /v1/chat/completions HTTP/1.0\r\n{head}\r\n\r\n".encode() + body)
        answer = b"".join(iter(lambda: wire.recv(65536), b""))
    message: dict[str, Any] = json.loads(answer.partition(b"\r\n\r\n")[2])["choices"][0]["message"]
    return message


def refused(call: dict[str, Any]) -> str:
    """What the installed entry says about a call, or ""."""
    path = Path(os.environ["HOME"], ".agents/plugins/anyhook/hooks/hooks.json")
    if "deaf" in MANNERS or not path.exists():
        return ""
    payload = {"event": "PreToolUse", "session_id": "s", "working_dir": os.getcwd(), "tool_name": "shell"}
    payload["tool_input"] = json.loads(call["function"]["arguments"])
    handler = json.loads(path.read_text())["hooks"]["PreToolUse"][0]["hooks"][0]
    words = shlex.split(handler["command"])
    done = subprocess.run(words, input=json.dumps(payload), capture_output=True, text=True, check=False)
    return str(json.loads(done.stdout or "{}").get("reason", ""))


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        sys.stdout.write("1.0\n")
        return
    if "litter" in MANNERS:
        subprocess.Popen(["setsid", "sleep", "977"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if "stuck" in MANNERS:
        time.sleep(600)
    if "mute" in MANNERS:
        sys.exit("fake agent: no licence")
    messages: list[dict[str, Any]] = [{"role": "user", "content": sys.argv[-1]}]
    for _ in range(5):
        message = ask(messages)
        messages.append(message)
        if not message.get("tool_calls"):
            break
        for call in message["tool_calls"]:
            reason = refused(call)
            if reason and "rude" not in MANNERS:
                output = reason
            elif "shy" in MANNERS:
                output = "not without a person"
            else:
                command = json.loads(call["function"]["arguments"])["command"]
                output = subprocess.run(command, shell=True, capture_output=True, text=True, check=False).stdout
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": output})


main()
