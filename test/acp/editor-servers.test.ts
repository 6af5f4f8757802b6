import { expect, test } from "vitest"
import { serveEditor } from "../../src/acp/serve-editor.ts"
import { silentLog } from "../../src/agent/silent-log.ts"
import { openEditorPlaces } from "../../src/cli/open/editor-places.ts"
import { toServers } from "../../src/cli/open/editor-servers.ts"
import { readConfig } from "../../src/cli/settings/config.ts"
import { RecentSecrets } from "../../src/models/providers/errors/recent-secrets.ts"
import { chatReply } from "../../src/models/providers/server.fixture.ts"
import { EditorSide } from "../support/acp/editor.ts"
import { PlayedServer } from "../support/mcp/played-server.ts"
import { calls, provided } from "../support/terminal/terminal-world.ts"

test("MCP servers of an editor have names that tools can bear, keep their secrets, and are others when their command is", () => {
  const program = {
    name: "My Files!",
    command: "npx",
    args: ["-y", "x"],
    env: [{ name: "KEY", value: "a-long-secret" }],
  }
  const sse = { type: "sse" as const, name: "old", url: "http://127.0.0.1:1", headers: [] }
  const http = { type: "http" as const, name: "42", url: "http://127.0.0.1:1", headers: [] }
  const place = { dir: "/work", agent: "files" }
  const { used, unused } = toServers([program, { ...program, name: "my-files" }, sse, http], place)
  expect(used.map(({ name }) => name)).toEqual(["myfiles", "myfiles2", "mcp42"])
  expect(used[0]).toMatchObject({
    secrets: ["a-long-secret"],
    agents: ["files"],
    target: { kind: "program", command: ["npx", "-y", "x"], folder: "/work", environment: { KEY: "a-long-secret" } },
  })
  expect(unused).toEqual(["The MCP server old of this editor is not used: it speaks over SSE alone."])
  const [changed] = toServers([{ ...program, args: ["-y", "y"] }], place).used
  expect(changed?.key).not.toBe(used[0]?.key)
})

test("a tool of a server that the editor names is used behind the gate, and one that cannot be used is named", async () => {
  await using played = await PlayedServer.open([{ name: "tell", description: "Tells the weather." }], () => ({
    content: [{ type: "text", text: "Rain, all day." }],
  }))
  await using world = await provided(calls("weather__tell", {}), chatReply("Take an umbrella."))
  const { PATH } = process.env
  const config = readConfig({ PATH, HOME: world.settings.PAWL_DATA, PAWL_LOG: "off", ...world.settings })
  const recent = new RecentSecrets(config.secrets)
  const stopping = new AbortController()
  {
    await using places = openEditorPlaces(config, { log: silentLog, recent, server: undefined, begins: {} })
    const [there, back] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
    const info = { name: "pawl", version: "0" }
    const streams = { input: there.readable, output: back.writable }
    const { signal } = stopping
    const serving = serveEditor({ ...streams, places, folder: world.cwd, info, signal, failed() {} })
    const editor = new EditorSide(there.writable, back.readable)
    const { agentCapabilities } = await editor.initialize()
    expect(agentCapabilities?.mcpCapabilities).toEqual({ http: true, sse: false })
    const { sessionId } = await editor.agent.request("session/new", {
      cwd: world.cwd,
      mcpServers: [
        { type: "http", name: "Weather", url: played.url, headers: [{ name: "authorization", value: "Bearer of it" }] },
        { type: "sse", name: "old", url: played.url, headers: [] },
      ],
    })
    await editor.until(() => editor.words("agent_message_chunk").includes("The MCP server old of this editor"))
    const answered = editor.say(sessionId, "what is the weather?")
    const { request, answer } = await editor.question(0)
    expect(request.toolCall.name).toBe("weather__tell")
    expect(played.calls).toEqual([])
    answer("yes")
    expect(await answered).toEqual({ stopReason: "end_turn" })
    expect(played.calls).toMatchObject([{ name: "tell", headers: { authorization: "Bearer of it" } }])
    expect(editor.words("agent_message_chunk")).toContain("Take an umbrella.")
    stopping.abort()
    await serving
  }
})
