"""What our plug-ins for agents without command hooks share: how JavaScript asks us about one event. A refusal is an
exception. If anyhook cannot be run, the event passes, unless the entry is closed."""

from __future__ import annotations

ASK = """\
import { spawnSync } from "node:child_process"

const LAUNCHER = {launcher}
const PLACES = {places}
const SECONDS = {seconds}
const CLOSED = {closed}

const ask = (event, payload) => {
  const [program, ...words] = LAUNCHER
  const done = spawnSync(program, [...words, "bridge", "{agent}", event, ...PLACES], {
    input: JSON.stringify(payload),
    timeout: SECONDS * 1000,
    maxBuffer: 1 << 28,
  })
  if (done.status === 2) throw new Error(String(done.stderr).trim() || "refused by a hook")
  const said = String(done.stdout ?? "").trim()
  try {
    if (done.status === 0) return (said && JSON.parse(said)) || {}
  } catch {}
  if (CLOSED) throw new Error("anyhook cannot be run, and its entry is closed: install it again")
  return {}
}
"""
SET = """
const set = (target, wanted) => {
  for (const key of Object.keys(target)) if (!(key in wanted)) delete target[key]
  Object.assign(target, wanted)
}
"""
"""Replaces an object's contents in place."""
HEAD = "// Written by `anyhook install {agent}`: every event below goes to anyhook, which runs your hooks.\n"


def plugin_text(agent: str, body: str) -> str:
    """The text of a plug-in."""
    return f"{HEAD}{ASK}{SET if 'set(' in body else ''}\n{body}".replace("{agent}", agent)
