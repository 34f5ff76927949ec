"""Every payload that real agents sent, as their tables read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from anyhook.engine.receive import Received, receive
from anyhook.tables.host_rows import Host, HostEvent
from anyhook.tables.registry import host

DATA = Path(__file__).parent / "data"
PAYLOADS = sorted((DATA / "payloads").glob("*/*.json"))
AGENTS = {"claude_agent_sdk": "claude", "kimicode": "kimi"}
"""Folders that are not named after their agent."""


def table_of(path: Path) -> tuple[Host, HostEvent]:
    table = host(AGENTS.get(path.parent.name, path.parent.name))
    stem = path.stem
    while table.row(stem) is None and "." in stem:
        stem = stem.rpartition(".")[0]
    row = table.row(stem)
    assert row is not None, path
    return table, row


def received(path: Path) -> tuple[Host, HostEvent, dict[str, Any], bytes, Received]:
    table, row = table_of(path)
    raw = path.read_bytes()
    payload = json.loads(raw)
    return table, row, payload, raw, receive(table, row, payload, raw)


BY_FOLDER = {path.parent.name: sorted(path.parent.glob("*.json")) for path in PAYLOADS}
each_folder = pytest.mark.parametrize("folder", BY_FOLDER)
