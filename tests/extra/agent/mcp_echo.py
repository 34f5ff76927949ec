"""A small MCP server on stdio with one tool, `echo`. It uses no library, so it starts fast. It appends the arguments of
each call to a file next to it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

TOOL = {"name": "echo", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}


def answer(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        version, info = params["protocolVersion"], {"name": "echo", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        given = params.get("arguments") or {}
        with Path(__file__).with_name("called.jsonl").open("a") as file:
            file.write(json.dumps(given) + "\n")
        failed = given.get("text") == "fail"
        if given.get("text") == "die":
            sys.exit("out of memory")
        text = str(given.get("text"))
        said = text if text.startswith("{") else f"echo: {text}"  # JSON goes back unchanged: it is a hook's answer
        return {"content": [{"type": "text", "text": said}], "isError": failed}
    return None


for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    result = answer(asked["method"], asked.get("params") or {})
    reply: dict[str, Any] = {"jsonrpc": "2.0", "id": asked["id"]}
    reply |= {"result": result} if result is not None else {"error": {"code": -32601, "message": "no such method"}}
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
