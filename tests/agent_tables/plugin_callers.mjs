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

const CALLERS = {
  opencode: plugged,
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
