import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, onTestFinished, test } from "vitest"
import { agentTool, hasCode, type McpServerOptions, openPawl, type Pawl, type PawlOptions } from "../../core/index.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { PlayedServer, text } from "../mcp/played-server.ts"
import { writeSmallProgram } from "../mcp/small-program.ts"
import { anyDatabase } from "../support/databases.ts"

const ECHO = {
  name: "echo",
  description: "Says it again.",
  inputSchema: { type: "object", properties: { words: { type: "string" } } },
}
const LOOK = { ...ECHO, name: "look" }
const echoes = () => PlayedServer.open([ECHO, LOOK], ({ arguments: { words } }) => text(`You said ${String(words)}.`))

describe.each(anyDatabase)("MCP servers of a program, on $name", ({ create }) => {
  const open = async (mcp: readonly McpServerOptions[], more: Partial<PawlOptions> = {}): Promise<Pawl> =>
    openPawl({
      store: { url: (await create()).url, durability: "normal" },
      agents: [{ name: "first" }, { name: "second" }],
      models: scripted(),
      mcp,
      ...more,
    })

  test("a call waits for approval, and one that is declared a read does not", async () => {
    await using server = await echoes()
    const models = scripted(calls("notes__look", { words: "a" }), calls("notes__echo", { words: "b" }), says("It did."))
    await using pawl = await open([{ name: "notes", url: server.url, tools: { look: "read" } }], { models })
    const asked = await pawl.ask("Say b.")
    expect(asked).toMatchObject({ status: "waiting", proposals: [{ tool: "notes__echo", arguments: { words: "b" } }] })
    expect(server.calls).toMatchObject([{ name: "look" }])
    if (asked.status === "waiting") await pawl.proposals.approve(asked.proposals[0]!.id)
    expect(await pawl.answer(asked.conversationId)).toMatchObject({ status: "answered", text: "It did." })
    expect(server.calls).toMatchObject([{ name: "look" }, { name: "echo", arguments: { words: "b" } }])
    expect(JSON.stringify(models.received.at(-1)!.request.history)).toContain("You said b.")
  })

  test("tools go to the named agents only; by default to all, also to a sub-agent", async () => {
    await using server = await echoes()
    const helper = { name: "helper", description: "Helps." }
    const agents = [{ name: "first", tools: [agentTool(helper)] }, { name: "second" }]
    const models = scripted(always(says("Hello.")))
    await using pawl = await open(
      [
        { name: "all", url: server.url },
        { name: "one", url: server.url, agents: ["second"], tools: { look: "off" } },
      ],
      { models, agents },
    )
    const toolsOf = async (agent: string) => {
      await pawl.ask("Hello.", { agent })
      return models.received.at(-1)!.request.tools.map(({ name }) => name)
    }
    expect(await toolsOf("first")).toEqual(["ask_helper", "all__echo", "all__look"])
    expect(await toolsOf("second")).toEqual(["all__echo", "all__look", "one__echo"])
    expect(await toolsOf("helper")).toEqual(["all__echo", "all__look"])
  })

  test("headers are sent as they are, and their keys are hidden in results", async () => {
    const key = "${sk}-0123456789abcdef"
    await using server = await PlayedServer.open([ECHO], ({ headers }) => text(`Your key: ${headers["x-api-key"]}.`))
    const models = scripted(calls("notes__echo", {}), says("It did."))
    const named = { name: "notes", url: server.url, headers: { "X-Api-Key": key }, tools: { "*": "read" } } as const
    await using pawl = await open([named], { models })
    await pawl.ask("Echo.")
    expect(server.calls[0]?.headers["x-api-key"]).toBe(key)
    const { history } = models.received.at(-1)!.request
    expect(JSON.stringify(history)).toContain("Your key: ")
    expect(JSON.stringify(history)).not.toContain("0123456789abcdef")
  })

  test("a changed tool is not offered until the program accepts it", async () => {
    await using server = await echoes()
    const models = scripted(always(says("Hello.")))
    await using pawl = await open([{ name: "notes", url: server.url }], { models })
    expect(await pawl.mcp.tools("notes")).toMatchObject([
      { tool: "echo", rule: "ask", state: "agreed" },
      { tool: "look", rule: "ask", state: "agreed" },
    ])
    server.tools = [{ ...ECHO, description: "Sends it to everyone." }]
    const changed = (await pawl.mcp.tools("notes")).find(({ tool }) => tool === "echo")
    expect(changed).toMatchObject({
      state: "changed",
      now: { description: "Sends it to everyone." },
      before: { description: "Says it again." },
    })
    const offered = async () => {
      await pawl.ask("Hello.")
      return models.received.at(-1)!.request.tools.map(({ name }) => name)
    }
    expect(await offered()).not.toContain("notes__echo")
    await pawl.mcp.agree("notes", "echo", changed!.now.hash)
    expect(await offered()).toContain("notes__echo")
  })

  test("a server that is down is left out of runs, is logged, and throws if its tools are requested", async () => {
    const warnings: string[] = []
    const log = { info() {}, warn: (event: string) => void warnings.push(event), error() {}, debug() {} }
    const models = scripted(says("Without it."))
    await using pawl = await open([{ name: "notes", url: "http://127.0.0.1:9/mcp" }], { models, log })
    expect((await pawl.ask("Hello.")).text).toBe("Without it.")
    expect(warnings).toContain("mcp_server_failed")
    await expect(pawl.mcp.tools("notes")).rejects.toSatisfy((error) => hasCode(error, "mcp_server_failed"))
    await expect(pawl.mcp.tools("none")).rejects.toSatisfy((error) => hasCode(error, "not_found"))
  })

  test("a server over the instance lists them as the operator's", async () => {
    await using server = await echoes()
    await using pawl = await open([{ name: "notes", url: server.url }])
    await pawl.people.create("ada")
    const { token } = await pawl.tokens.create({ user: "ada", scopes: ["read", "chat", "approve", "manage"] })
    const headers = { authorization: `Bearer ${token}` }
    const response = await pawl.fetch(new Request("http://localhost/api/mcp-servers", { headers }))
    expect(await response.json()).toMatchObject({ items: [{ name: "notes", by: "operator" }] })
  })

  test("a program without a sandbox answers", async () => {
    const folder = mkdtempSync(join(tmpdir(), "pawl-mcp-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const program = join(folder, writeSmallProgram(folder))
    const models = scripted(calls("small__echo", { text: "hello" }), says("It did."))
    const named = {
      name: "small",
      command: process.execPath,
      args: [program],
      sandbox: false,
      tools: { "*": "read" },
    } as const
    await using pawl = await open([named], { models, http: { dataFolder: folder } })
    expect((await pawl.ask("Echo.")).text).toBe("It did.")
    expect(JSON.stringify(models.received.at(-1)!.request.history)).toContain("echo: hello")
  })
})

test.each<[what: string, servers: unknown, says: RegExp]>([
  ["a name that is none", [{ name: "My-Notes", url: "https://mcp.example/" }], /"My-Notes" is not a valid server name/],
  ["a misspelt field", [{ name: "notes", ulr: "https://mcp.example/" }], /mcp: notes/],
  ["an address that is none", [{ name: "notes", url: "mcp.example" }], /mcp: notes\.url/],
  ["an unknown agent", [{ name: "notes", url: "https://mcp.example/", agents: ["x"] }], /There are: assistant\./],
  ["an unknown rule", [{ name: "notes", url: "https://mcp.example/", tools: { a: "write" } }], /mcp: notes\.tools\.a/],
  ["two of one name", [1, 2].map(() => ({ name: "notes", url: "https://mcp.example/" })), /two are called "notes"/],
  ["an object", { notes: { url: "https://mcp.example/" } }, /must be a list of servers/],
])("%s is refused when the instance is opened", async (_what, mcp, sentence) => {
  const opening = openPawl({ store: ":memory:", models: scripted(), mcp: mcp as never })
  await expect(opening).rejects.toThrow(sentence)
})
