"""opencode: no command hooks, so our plugin calls us and throws an error for a refusal. Measured with 1.18.33."""

from __future__ import annotations

from anyhook.agents._claude_family import EXIT_2
from anyhook.agents._plugins import plugin_text
from anyhook.agents._results import as_text, parts_text
from anyhook.tables.host_rows import Entry, Host, HostEvent, HostTool, ProductChange, Say, Taken, taken, until

TYPE_CHECKING = False
if TYPE_CHECKING:
    from anyhook.tables.vocabulary import Drive, Json, Sample

VERSION = "1.18.33"


TOOL = taken(tool="input.tool", input=("output.args", "input.args"), call_id="input.callID")
FILE = {"path": "filePath"}

EVENTS = (
    HostEvent(
        "event.session.created", ("session_start",), fixed={"source": "startup"}, why_not="the agent does not wait"
    ),
    HostEvent(
        "chat.message",
        ("user_prompt_submit",),
        (Taken("prompt", ("output.parts",), parts_text),),
        {"prompt": Say({"prompt": "{prompt}"}), "context": Say({"context": "{context}"})},
    ),
    HostEvent(
        "tool.execute.before", ("pre_tool",), TOOL, {"block": EXIT_2, "input": Say({"args": "{input}"})}, limit_s=600
    ),
    HostEvent(
        "tool.execute.after",
        ("post_tool",),
        (*TOOL, Taken("output", ("output.output",)), Taken("exit_code", ("output.metadata.exit",))),
        {"output": Say({"output": "{output}"}), "context": Say({"context": "{context}"})},
        limit_s=600,
    ),
    HostEvent("event.session.idle", ("stop",), why_not="the agent does not wait"),
    HostEvent(
        "event.session.deleted", ("session_end",), fixed={"reason": "deleted"}, why_not="the agent does not wait"
    ),
)

MODULE = """\
const SEEN = /^session\\.(created|idle|deleted)$/
const tell = (event, payload) => { try { return ask(event, payload) } catch { return {} } }

export const Anyhook = async ({ directory }) => ({
  event: async ({ event }) => {
    if (SEEN.test(event.type)) tell(`event.${event.type}`, { ...event, directory })
  },
  "chat.message": async (input, output) => {
    const answer = tell("chat.message", { input, output, directory })
    const part = output.parts.find((each) => each.type === "text")
    if (!part) return
    if (answer.prompt) part.text = answer.prompt
    if (answer.context) part.text += `\\n\\n${answer.context}`
  },
  "tool.execute.before": async (input, output) => {
    const answer = ask("tool.execute.before", { input, output, directory })
    if (answer.args) set(output.args, answer.args)
  },
  "tool.execute.after": async (input, output) => {
    const answer = tell("tool.execute.after", { input, output, directory })
    if (answer.output) output.output = answer.output
    if (answer.context) output.output += `\\n\\n${answer.context}`
  },
})
"""
VERSION_2 = """
// OpenCode 2 reads the default export and calls `setup`; version 1 (since 1.3.4) calls `server`. Its tools and fields
// have other names here; anyhook knows those of version 1.
const TOOLS = { shell: "bash", subagent: "task" }
const FIELDS = {
  read: ["path", "filePath"],
  write: ["path", "filePath"],
  edit: ["path", "filePath"],
  subagent: ["agent", "subagent_type"],
}
const renamed = (object, from, to) =>
  Object.fromEntries(Object.entries(object ?? {}).map(([key, value]) => [key === from ? to : key, value]))
const called = (event) => {
  const input = { tool: TOOLS[event.tool] ?? event.tool, sessionID: event.sessionID, callID: event.id }
  return [input, renamed(event.input, ...(FIELDS[event.tool] ?? []))]
}
const printed = (result) => {
  const content = result?.content ?? result
  return Array.isArray(content) ? content.map((each) => each.text ?? "").join("\\n") : String(content ?? "")
}
const ENDED = /^session\\.execution\\.(succeeded|failed|interrupted)$/

const setup = async (ctx) => {
  if (!ctx.tool?.hook) return // version 1 calls this as well, with nothing to hook
  const directory = ctx.location?.directory ?? process.cwd()
  const hooks = await Anyhook({ directory })
  await ctx.tool.hook("execute.before", async (event) => {
    const [input, args] = called(event)
    const output = { args: structuredClone(args) }
    await hooks["tool.execute.before"](input, output)
    const [field, known] = FIELDS[event.tool] ?? []
    if (JSON.stringify(output.args) !== JSON.stringify(args)) set(event.input, renamed(output.args, known, field))
  })
  await ctx.tool.hook("execute.after", async (event) => {
    const [input, args] = called(event)
    const before = event.status === "error" ? String(event.error?.message ?? event.error) : printed(event.result)
    const output = { output: before, metadata: {} }
    await hooks["tool.execute.after"]({ ...input, args }, output)
    if (output.output === before || event.status === "error") return
    const content = Array.isArray(event.result?.content) ? [{ type: "text", text: output.output }] : output.output
    event.result = typeof event.result === "string" ? output.output : { ...event.result, content }
  })
  await ctx.session?.hook?.("prompt", async (event) => {
    const part = { type: "text", text: event.prompt.text }
    await hooks["chat.message"]({ sessionID: event.sessionID }, { parts: [part] })
    event.prompt.text = part.text
  })
  const told = async () => {
    for await (const { type, data, location } of ctx.event.subscribe()) {
      if ((location?.directory ?? directory) !== directory) continue
      const event = { type: ENDED.test(type) ? "session.idle" : type, properties: { sessionID: data?.sessionID } }
      await hooks.event({ event })
    }
  }
  if (ctx.event?.subscribe) told().catch(() => {})
}

export default { id: "anyhook", server: Anyhook, setup }
"""

HOST = Host(
    name="opencode",
    title="opencode",
    events=EVENTS,
    base=taken(session=("input.sessionID", "properties.sessionID")),
    tools={
        "bash": HostTool("shell"),
        "read": HostTool("read_file", FILE),
        "write": HostTool("write_file", FILE),
        "edit": HostTool("edit_file", {**FILE, "old_text": "oldString", "new_text": "newString"}),
        "glob": HostTool("list_files", {"glob": "pattern"}),
        "grep": HostTool("grep", {"glob": "include"}),
        "task": HostTool("delegate_task", {"agent_name": "subagent_type", "task": "prompt"}),
        "webfetch": HostTool("web_fetch"),
        "websearch": HostTool("web_search"),
    },
    entry=Entry(
        "module",
        {"user": "{config}/opencode/plugins/anyhook.js", "project": "{project}/.opencode/plugins/anyhook.js"},
        {"config": ("XDG_CONFIG_HOME", "{home}/.config")},
        module=plugin_text("opencode", MODULE + VERSION_2),
        owned=True,
    ),
    project=("directory", "properties.info.directory", "cwd"),
    program="opencode",
    marks=("OPENCODE",),
    confirms=(),
    without_us="open",  # our own plugin ignores a missing program, unless it is closed
    off_words=("--pure",),
    off_variables=("OPENCODE_PURE",),
    confirm="nothing to confirm: it loads plugins from this folder.",
    gaps=("permission requests", "refusing a prompt", "keeping a turn going"),
    result=as_text,
)


PACKAGE = "@opencode-ai/plugin"
FOLDERS = ("{config}/opencode", "{project}/.opencode")


CHANGES = (
    until("1.3.4", "does not load our entry", "anomalyco/opencode#19347", "2026-03-27"),
    ProductChange(
        "2",
        "does not load plug-ins of version 1. Our entry also has the form of version 2, but nobody has seen that "
        "work in this agent yet",
        "opencode.ai/v2/docs/build/plugins/migrate-v1; opencode-swarm#2909, context-mode#1171",
        "2026-09",
    ),
)


def drive(package: str = PACKAGE, folders: tuple[str, ...] = FOLDERS) -> Drive:
    """How to run it, or a fork of it that expects another package in other folders."""
    from anyhook.tables.drive_rows import ASKING, Drive

    usual = Drive(
        ("run", "--auto", "{prompt}"),
        {
            "OPENCODE_CONFIG": "{home}/live-config.json",
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_SHARE": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        },
        writes=_written(package, folders),
        helper="general",
        cannot_show={"session_end": "only people delete sessions"},
    )
    asking = usual.without_words("--auto").with_env(OPENCODE_CONFIG_CONTENT='{"permission": {"bash": "ask"}}')
    return usual.replace(scenarios={ASKING: asking})


def _written(package: str, folders: tuple[str, ...]) -> dict[str, Json]:
    """Its settings. It expects a package next to plugins, and would wait to download it. Our plugin does not need it,
    so we pretend that it is there."""
    from anyhook.tables.drive_rows import KEY, PROVIDER

    model: Json = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    provider: Json = {
        "npm": "@ai-sdk/openai-compatible",
        "name": PROVIDER,
        "options": {"baseURL": "{url}/v1", "apiKey": KEY},
        "models": {"{model}": model},
    }
    settings: Json = {
        "autoupdate": False,
        "share": "disabled",
        "model": f"{PROVIDER}/{{model}}",
        "small_model": f"{PROVIDER}/{{model}}",
        "enabled_providers": [PROVIDER],
        "provider": {PROVIDER: provider},
    }
    lock: Json = {"packages": {"": {"dependencies": {package: "*"}}}}
    packages = {
        f"{folder}/{name}": text
        for folder in folders
        for name, text in (("package-lock.json", lock), ("node_modules/.keep", ""))
    }
    return {"{home}/live-config.json": settings, **packages}


def sample() -> Sample:
    from anyhook.tables.sample_rows import COMMAND, REASON, Sample

    return Sample(
        calls="tool.execute.before",
        payload={"input": {"tool": "bash", "sessionID": "s"}, "output": {"args": {"command": COMMAND}}},
        stderr=REASON,
        status=2,
    )
