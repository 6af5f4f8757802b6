import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test, vi } from "vitest"
import { chatReply, ProviderServer, streamHead } from "../../core/models/providers/server.fixture.ts"
import { PlayedServer, text } from "./played-server.ts"
import { KilledServer } from "../support/processes/killed-server.ts"
import { programOf } from "../support/processes/processes.ts"
import { call, settings, until } from "../support/processes/server-lives.ts"
import { Visitor } from "../support/server/face.ts"

vi.setConfig({ testTimeout: 180_000 })

const TOOLS = ["dig", "look"].map((name) => ({ name, description: "Does it." }))

/** A server over stdin and stdout, which records each effect and then does not answer. */
const silentProgram = (counted: string) => `
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
const answers = {
  initialize: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "silent", version: "1" } },
  "tools/list": { tools: [{ name: "dig", inputSchema: { type: "object", properties: {} } }] },
}
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line)
  if (method === "tools/call") return appendFileSync(${JSON.stringify(counted)}, "dug\\n")
  if (id !== undefined) process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method] ?? {} }) + "\\n")
})
`

/** Calls the tool that the user names, and answers once it has a result. */
const provider = () =>
  ProviderServer.open((response, { body }) => {
    const messages = body.messages as { role: string; content: unknown }[]
    const isDone = messages.some(({ role }) => role === "tool")
    const [wanted = ""] = /\w+__\w+/.exec(JSON.stringify(messages.findLast(({ role }) => role === "user"))) ?? []
    streamHead(response).end(isDone ? chatReply("All done.") : call(wanted))
  })

test("a write over MCP is applied at most once, and in doubt wherever kill -9 falls; a read is repeated", async () => {
  await using model = await provider()
  const environment = settings(model)
  const counted = join(environment.PAWL_DATA, "counted")
  writeFileSync(counted, "")
  await using server = await PlayedServer.open(TOOLS)
  const program = [process.execPath, fileURLToPath(programOf(silentProgram(counted)))]
  const mcpServers = {
    mine: { url: server.url, data: "public", tools: { look: "read" } },
    silent: { command: program[0], args: program.slice(1), sandbox: false },
  }
  writeFileSync(join(environment.PAWL_DATA, "mcp.json"), JSON.stringify({ mcpServers }))
  await using pawl = await KilledServer.open(environment)
  const ada = new Visitor(fetch, pawl.token, pawl.url)

  const proposalOf = async (id: string) => {
    const { body } = await ada.get("/api/agent/proposals")
    return body.items.find((each: { conversationId: string }) => each.conversationId === id)
  }
  /** Starts a call, approves it if it is a write, and runs `before` ahead of the approval. */
  const begin = async (tool: string, before = () => {}): Promise<string> => {
    const id = await ada.begin()
    await ada.say(id, `Use ${tool}.`)
    const { id: proposal } = await proposalOf(id)
    before()
    ada.post(`/api/agent/proposals/${proposal}/commit`).catch(() => {})
    return id
  }
  const isInDoubt = async (id: string) => {
    const proposal = await until(
      () => proposalOf(id),
      (each) => each?.status === "in_doubt",
      60_000,
    )
    return { id: proposal.id as string }
  }
  const digs = () => server.calls.filter(({ name }) => name === "dig").length

  // Before it is sent: its server has forgotten the session, and the client initializes again.
  const greeted = Promise.withResolvers<void>()
  const first = await begin("mine__dig", () => {
    let isForgotten = false
    server.instead = ({ method }, response) => {
      if (method !== "POST") return false
      if (isForgotten) greeted.resolve()
      else response.writeHead(404).end()
      isForgotten = true
      return true
    }
  })
  await greeted.promise
  await pawl.kill()
  server.instead = undefined
  await pawl.comeBack()
  await isInDoubt(first)
  expect(digs()).toBe(0)

  // After the effect, before any answer; and a read that runs at the same time.
  const under = { dig: Promise.withResolvers<void>(), look: Promise.withResolvers<void>() }
  server.play = ({ name }) => {
    under[name as "dig" | "look"].resolve()
    return "played"
  }
  const second = await begin("mine__dig")
  await under.dig.promise
  const reading = await ada.begin()
  ada.say(reading, "Use mine__look.").catch(() => {})
  await under.look.promise
  await pawl.kill()
  server.play = ({ name }) => text(`${name} again`)
  await pawl.comeBack()
  const { id: doubtful } = await isInDoubt(second)
  const read = await until(
    async () => (await ada.get(`/api/conversations/${reading}`)).body,
    ({ status }) => status === "active",
    60_000,
  )
  expect(JSON.stringify(read.messages)).toContain("look again")
  expect(server.calls.map(({ name }) => name)).toEqual(["dig", "look", "look"])

  // The same at a local program, which dies with us.
  const third = await begin("silent__dig")
  await expect.poll(() => readFileSync(counted, "utf8"), { timeout: 60_000 }).toBe("dug\n")
  await pawl.kill()
  await pawl.comeBack()
  await isInDoubt(third)

  // The user resolves the doubt, and the run continues; nothing was applied twice.
  await ada.post(`/api/agent/proposals/${doubtful}/resolve`, { choice: "done" })
  const settled = await until(
    async () => (await ada.get(`/api/conversations/${second}`)).body,
    ({ status }) => status === "active",
    60_000,
  )
  expect(settled.messages.at(-1).content).toBe("All done.")
  expect([digs(), readFileSync(counted, "utf8")]).toEqual([1, "dug\n"])
})
