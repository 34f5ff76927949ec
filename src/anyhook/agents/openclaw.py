"""OpenClaw: no command hooks for tools, so our plug-in calls us. Measured with 2026.9.2, by a plug-in like ours."""

from __future__ import annotations

from anyhook.agents._claude_family import EDIT, EXIT_2, FILE
from anyhook.agents._plugins import plugin_text
from anyhook.agents._results import parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, OffSwitch, Say, Taken, left_out, taken, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Drive, Json, Sample

VERSION = "2026.9.2"

TOOL = taken(tool="event.toolName", input="event.params", call_id="event.toolCallId")
ALONE = "it fires for every request to the model"
EVENTS = (
    HostEvent(
        "before_agent_run",
        ("user_prompt_submit",),
        taken(prompt="event.prompt"),
        {"block": EXIT_2, "context": Say({"context": "{context}"})},
    ),
    HostEvent(
        "before_tool_call", ("pre_tool",), TOOL, {"block": EXIT_2, "input": Say({"input": "{input}"})}, limit_s=15
    ),
    HostEvent(
        "after_tool_call",
        ("post_tool", "post_tool_failure"),
        (*TOOL, Taken("output", ("event.result.content",), parts_text), Taken("duration_ms", ("event.durationMs",))),
        error=("event.error",),
        limit_s=15,
    ),
    HostEvent("agent_end", ("stop",), why_not="it comes after the turn has ended"),
    HostEvent("before_agent_reply", installed=False, why_not="the same prompt reaches before_agent_run"),
    HostEvent("before_agent_finalize", installed=False, why_not="what an answer does was not seen"),
    HostEvent("before_prompt_build", installed=False, why_not="the context of before_agent_run is added there"),
    *left_out(ALONE, "before_model_resolve", "llm_input", "llm_output"),
    HostEvent("tool_result_persist", installed=False, why_not="the same result reaches after_tool_call"),
)

MODULE = """\
const sent = (event, { sessionId, workspaceDir } = {}) => ({ event, ctx: { sessionId, workspaceDir } })

const RUNS = new Map()

const asked = ({ prompt }, ctx) => { // once for each prompt of a run, whichever event comes first
  const known = RUNS.get(ctx?.runId)
  if (known?.prompt === prompt) return known
  const answer = { prompt }
  try {
    answer.context = ask("before_agent_run", sent({ prompt }, ctx)).context
  } catch (error) {
    answer.refusal = error.message
  }
  if (ctx?.runId) RUNS.set(ctx.runId, answer)
  return answer
}

export default {
  id: "anyhook",
  name: "anyhook",
  description: "Calls the hooks of anyhook",
  register(api) {
    api.on("before_prompt_build", (event, ctx) => {
      const { context } = asked(event, ctx)
      if (context) return { prependContext: context }
    })
    api.on("before_agent_run", (event, ctx) => {
      const { refusal } = asked(event, ctx)
      if (refusal) return { outcome: "block", reason: refusal, message: refusal }
    })
    api.on("before_tool_call", (event, ctx) => {
      try {
        const { input } = ask("before_tool_call", sent(event, ctx))
        if (input) return { params: input }
      } catch (error) {
        return { block: true, blockReason: error.message }
      }
    })
    for (const name of ["after_tool_call", "agent_end"]) api.on(name, (event, ctx) => {
      if (name === "agent_end") RUNS.delete(ctx?.runId)
      const { messages, ...rest } = event
      try { ask(name, sent(rest, ctx)) } catch {}
    })
  },
}
"""
PACKAGE = '{"name": "anyhook", "version": "1.0.0", "type": "module", "openclaw": {"extensions": ["./index.js"]}}\n'
MANIFEST = (
    '{"id": "anyhook", "name": "anyhook", "activation": {"onStartup": true}, '
    '"configSchema": {"type": "object", "additionalProperties": false}}\n'
)

HOST = Host(
    name="openclaw",
    title="OpenClaw",
    events=EVENTS,
    base=taken(session=("ctx.sessionId", "event.sessionId")),
    tools={
        "exec": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", EDIT),
    },
    entry=Entry(
        "module",
        {"user": "{config}/extensions/anyhook/index.js"},
        {"config": ("OPENCLAW_STATE_DIR", "{home}/.openclaw")},
        module=plugin_text("openclaw", MODULE),
        owned=True,
        beside={"package.json": PACKAGE, "openclaw.plugin.json": MANIFEST},
    ),
    project=("ctx.workspaceDir", "event.cwd"),
    program="openclaw",
    # Seen with 2026.9.2, 2026-11: the plug-in is listed as enabled, but not called until somebody enables it.
    confirm="Run `openclaw plugins enable anyhook`: until then, OpenClaw does not call the plug-in. To let hooks see "
    "prompts and warn you about guards that are off, set `plugins.entries.anyhook.hooks.allowConversationAccess` to "
    "true in openclaw.json.",
    confirms=("user",),
    settings=("{config}/openclaw.json",),
    switches=(
        OffSwitch(("plugins", "enabled"), False),
        OffSwitch(("plugins", "entries", "anyhook", "enabled"), False),
    ),
    shows_stderr=False,
    without_us="open",  # our own plug-in ignores a missing program, unless it is closed
    gaps=("sessions", "keeping a turn going", "asking the user", "replaced output"),
)


CHANGES = (
    until(
        "2026.1.29",
        "has no hooks before a tool",
        "npm openclaw 2026.1.29; no earlier release under this name has them",
        "2026-01-29",
    ),
)


def drive() -> Drive:
    """Without its gateway, in the folder that its settings call the workspace."""
    from anyhook.tables.drive_rows import ASKING, KEY, PROVIDER, TERMINAL, Drive

    free: Json = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model: Json = {
        "id": "{model}", "name": "scripted", "reasoning": False, "input": ["text"], "contextWindow": 200000,
        "maxTokens": 8000, "cost": free,
    }  # fmt: skip
    plugin = "plugins.entries.anyhook"
    provider: Json = {"baseUrl": "{url}/v1", "apiKey": KEY, "api": "openai-completions", "models": [model]}
    usual = Drive(
        ("agent", "--local", "--agent", "main", "--session-id", "anyhook", "-m", "{prompt}"),
        {"OPENCLAW_STATE_DIR": "{config}", "OPENCLAW_CONFIG_PATH": "{config}/openclaw.json"},
        carries=("{config}/openclaw.json",),
        sets={
            "{config}/openclaw.json": {
                "models": {"mode": "replace", "providers": {PROVIDER: provider}},
                "agents.defaults.model.primary": f"{PROVIDER}/{{model}}",
                "agents.defaults.workspace": "{project}",
                "agents.defaults.skipBootstrap": True,
                "tools.exec": {"host": "gateway", "security": "full", "ask": "off"},
            }
        },
        tools={"delegate_task": ("sessions_spawn",)},
        trusting=lambda drive: _with(
            drive, {f"{plugin}.enabled": True, f"{plugin}.hooks.allowConversationAccess": True}
        ),
    )
    asking, terminal = _with(usual, {"tools.exec.ask": "always"}), usual.replace(terminal=True)
    return usual.replace(scenarios={ASKING: asking, TERMINAL: terminal})


def _with(drive: Drive, settings: dict[str, Json]) -> Drive:
    path = "{config}/openclaw.json"
    return drive.replace(sets={path: {**drive.sets[path], **settings}})


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    event: dict[str, Json] = {"toolName": "exec", "params": {"command": COMMAND}, "toolCallId": "c"}
    return Sample(
        calls="before_tool_call",
        payload={"event": {**event}, "ctx": {"sessionId": "s"}},
        stderr=REASON,
        status=2,
    )
