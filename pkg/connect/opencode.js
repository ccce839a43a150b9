// skillpm connect opencode writes this file, and skillpm disconnect opencode removes it: skillpm hook --agent opencode
// It enforces what skills and policies allow: skillpm answers each event of OpenCode, and a denied tool call does not run.
import { spawn } from "node:child_process"

const program = "skillpm"
const failClosed = true // deny tool calls if skillpm is missing or fails
const limit = 60_000 // milliseconds

// run starts skillpm without a shell, and returns what it prints.
function run(args, input, directory) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd: directory, stdio: ["pipe", "pipe", "pipe"], windowsHide: true })
    let stdout = ""
    let stderr = ""
    const timer = setTimeout(() => child.kill("SIGKILL"), limit)
    child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text))
    child.stdin.on("error", () => {}) // the exit code has the reason
    child.on("error", (error) => {
      clearTimeout(timer)
      reject(error)
    })
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(stdout)
      else reject(new Error(stderr.trim() || `skillpm ended with exit code ${code}`))
    })
    child.stdin.end(input)
  })
}

// hidden returns rules that hide skills which only users may start.
async function hidden(directory) {
  const rules = {}
  for (const skill of JSON.parse(await run(["skills", "--json", "--quiet"], "", directory)).skills ?? [])
    if (!skill.modelInvocable) for (const name of [skill.declared, skill.name]) if (name) rules[name] = "deny"
  return rules
}

export const Skillpm = async ({ client, directory }) => {
  const parents = new Map() // session → session that started it, "" for none
  const turns = new Map() // session → the user's last message
  const commands = new Map() // session → the command whose message follows
  const started = new Set() // sessions of subagents
  const failed = new Set() // calls
  const unanswered = new Map() // session → why skillpm did not see the user's message, which may have started a skill
  const last = new Map() // session → its last event, because each event changes what the next one may do

  async function parentOf(session) {
    if (!parents.has(session)) {
      const answer = await client.session.get({ path: { id: session } })
      if (!answer.data) throw new Error("OpenCode does not know the session")
      parents.set(session, answer.data.parentID ?? "")
    }
    return parents.get(session)
  }

  async function send(name, session, fields) {
    const parent = await parentOf(session)
    const event = { hook_event_name: name, session_id: session, cwd: directory, turn_id: turns.get(session) ?? "", ...fields }
    if (parent) Object.assign(event, { agent_id: session, parent_agent_id: parent })
    const text = await run(["hook", name, "--agent", "opencode"], JSON.stringify(event), directory)
    return text.trim() ? JSON.parse(text) : {}
  }

  function answer(name, session, fields) {
    const result = (last.get(session) ?? Promise.resolve()).then(() => send(name, session, fields))
    last.set(session, result.catch(() => {}))
    return result
  }

  // ask returns skillpm's reason for a denial, undefined if skillpm allows the event.
  async function ask(name, session, fields) {
    const result = await answer(name, session, fields)
    const decision = result.hookSpecificOutput
    if (decision?.permissionDecision === "deny") return decision.permissionDecisionReason
    return result.decision === "block" ? result.reason : undefined
  }

  // askMessage is ask for a message of the user, or of the agent that started a subagent.
  async function askMessage(session, output) {
    const command = commands.get(session)
    commands.delete(session)
    turns.set(session, output.message.id)
    if ((await parentOf(session)) && !started.has(session)) {
      await ask("SubagentStart", session, {})
      started.add(session)
    }
    if (command) return ask("UserPromptExpansion", session, command)
    return ask("UserPromptSubmit", session, { prompt: output.parts.map((part) => part.text ?? "").join("\n") })
  }

  // askCall is ask for a tool call, which is also denied if skillpm does not answer, or has not seen the last message.
  async function askCall(input, output) {
    const session = input.sessionID
    const fields = { tool_name: input.tool, tool_input: output.args, tool_use_id: input.callID }
    try {
      if (unanswered.has(session)) throw unanswered.get(session)
      return await ask("PreToolUse", session, fields)
    } catch (error) {
      return failClosed ? `skillpm does not answer, so the call is denied: ${error.message}` : undefined
    }
  }

  // tell sends an event that nothing waits for.
  const tell = (name, session, fields) => void answer(name, session, fields).catch(() => {})

  return {
    config: async (config) => {
      const rules = await hidden(directory).catch(() => ({}))
      if (Object.keys(rules).length === 0) return
      const all = typeof config.permission === "string" ? { "*": config.permission } : (config.permission ?? {})
      const skill = typeof all.skill === "string" ? { "*": all.skill } : (all.skill ?? {})
      config.permission = { ...all, skill: { ...skill, ...rules } }
    },
    "command.execute.before": async (input) => {
      commands.set(input.sessionID, { command_name: input.command, command_args: input.arguments ?? "" })
    },
    "chat.message": async (input, output) => {
      try {
        unanswered.delete(input.sessionID)
        const reason = await askMessage(input.sessionID, output)
        if (reason) for (const part of output.parts) if (part.type === "text") part.text = reason
      } catch (error) {
        unanswered.set(input.sessionID, error)
      }
    },
    "tool.execute.before": async (input, output) => {
      const reason = await askCall(input, output)
      if (reason) throw new Error(reason)
    },
    "tool.execute.after": async (input) => {
      tell("PostToolUse", input.sessionID, { tool_name: input.tool, tool_input: input.args, tool_use_id: input.callID })
    },
    event: async ({ event }) => {
      const { sessionID: session, info, part } = event.properties ?? {}
      if (event.type === "session.created" && info) parents.set(info.id, info.parentID ?? "")
      if (event.type === "session.idle") tell(parents.get(session) ? "SubagentStop" : "Stop", session, {})
      if (event.type === "session.deleted") tell("SessionEnd", info?.id ?? session, {})
      if (event.type === "message.part.updated" && part?.state?.status === "error" && !failed.has(part.callID)) {
        failed.add(part.callID)
        const call = { tool_name: part.tool, tool_input: part.state.input, tool_use_id: part.callID }
        tell("PostToolUseFailure", part.sessionID, call)
      }
    },
  }
}
