// Calls our plug-ins as their agent does, before a tool runs: node plugin_callers.mjs AGENT INPUT PLUGIN...
// Prints what became of each call: {"refused": reason} or {"input": what the tool would run with}.

const registered = (register) => {
  const handlers = {}
  register({ on: (name, handler) => { handlers[name] = handler } })
  return handlers
}

const plugged = async (module, input) => { // opencode and its fork: an exception refuses, the input is changed in place
  const hooks = await module.Anyhook({ directory: process.cwd() })
  const output = { args: input }
  await hooks["chat.message"]({ sessionID: "s" }, { parts: [{ type: "text", text: "go" }] }) // which cannot be refused
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s", callID: "c" }, output)
  } catch (error) {
    return { refused: error.message }
  }
  return { input: output.args }
}

const second = async (module, input, tool = "shell") => { // OpenCode 2: it calls `setup` of the default export, once
  const { id, setup } = module.default
  if (typeof id !== "string" || typeof setup !== "function") return { refused: "it is not a plug-in of version 2" }
  const hooks = {}
  const domain = (name) => ({ hook: async (moment, hook) => { hooks[`${name}.${moment}`] = hook } })
  const events = { async *subscribe() { yield { type: "session.created", data: { sessionID: "s" } } } }
  await setup({ location: { directory: process.cwd() }, tool: domain("tool"), session: domain("session"), event: events })
  const prompt = { sessionID: "s", messageID: "m", prompt: { text: "go" } }
  await hooks["session.prompt"](prompt) // which cannot be refused
  const event = { tool, sessionID: "s", agent: "build", messageID: "m", id: "c", input }
  try {
    await hooks["tool.execute.before"](event)
  } catch (error) {
    return { refused: error.message }
  }
  const after = { ...event, status: "completed", result: { content: [{ type: "text", text: "done" }] } }
  await hooks["tool.execute.after"](after)
  return tool === "shell" ? { input: event.input } : { input: event.input, prompt: prompt.prompt.text, result: after.result }
}

const CALLERS = {
  opencode: plugged,
  "opencode:2": second,
  "opencode:2:read": (module, input) => second(module, input, "read"),
  "opencode:bare": async (module) => { // version 1.18 calls it too, with nothing to hook
    await module.default.setup({ options: {}, agent: {}, event: {} })
    return { server: module.default.server === module.Anyhook }
  },
  kilo: plugged,
  pi: async (module, input) => {
    const event = { type: "tool_call", toolName: "bash", toolCallId: "c", input }
    const answer = await registered(module.default).tool_call(event, { cwd: process.cwd() })
    return answer?.block ? { refused: answer.reason } : { input: event.input }
  },
  amp: async (module, input) => {
    const answer = await registered(module.default)["tool.call"]({ tool: "Bash", toolUseID: "t", input })
    if (!["allow", "modify"].includes(answer.action)) return { refused: answer.message }
    return { input: answer.input ?? input }
  },
  openclaw: async (module, input) => {
    const handlers = registered((api) => module.default.register(api))
    const answer = await handlers.before_tool_call({ toolName: "exec", params: input, toolCallId: "c" }, { sessionId: "s" })
    return answer?.block ? { refused: answer.blockReason } : { input: answer?.params ?? input }
  },
  "openclaw:prompt": async (module, input) => { // its gate takes two answers, and refuses on any other
    const handlers = registered((api) => module.default.register(api))
    const event = { prompt: input.command, messages: [] }
    const run = { runId: "r", sessionId: "s" }
    const built = await handlers.before_prompt_build?.(event, run)
    const answer = await handlers.before_agent_run(event, run)
    if (answer?.outcome === "block") return { refused: answer.message }
    if (answer !== undefined && answer?.outcome !== "pass") return { refused: "not an answer" }
    return { context: built?.prependContext ?? "" }
  },
}

const [agent, text, ...plugins] = process.argv.slice(2)
const found = []
for (const plugin of plugins) {
  const input = JSON.parse(text)
  if (input.itself) input.itself = input // what cannot be written as JSON
  found.push(await CALLERS[agent](await import(plugin), input))
}
console.log(JSON.stringify(found))
