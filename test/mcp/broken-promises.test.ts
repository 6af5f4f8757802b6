import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { getRequestListener } from "@hono/node-server"
import { createMcpHandler, Server } from "@modelcontextprotocol/server"
import { expect, test, vi } from "vitest"
import { calls, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { anyDatabase } from "../support/databases.ts"
import { of } from "../support/loop/checked-world.ts"
import { openMcpWorld, servers } from "./mcp-world.ts"
import { type Play, PlayedServer, text } from "./played-server.ts"

const outputSchema = { type: "object", properties: { id: { type: "string" } }, required: ["id"] }

/** One approved write, at a server that declares a schema for its results. */
async function oneWrite(play: Play) {
  await using place = await anyDatabase[0]!.create()
  await using server = await PlayedServer.open([{ name: "add", outputSchema }], play)
  const model = scripted(calls("notes__add", {}), says("Done."))
  await using world = await openMcpWorld(servers({ notes: { url: server.url } }), { url: place.url, model })
  const id = await world.begin("Add it.")
  for (const { proposed } of await world.proposals(id)) await world.decide(id, proposed.id, "commit")
  const events = await world.events(id)
  const [end] = of(events, "tool_end")
  return { end, calls: server.calls.length, doubts: of(events, "in_doubt").length }
}

test("a write that was applied is reported as such, even if its result does not match the declared schema", async () => {
  expect(await oneWrite(() => text("Added."))).toMatchObject({
    ...{ end: { status: "ok", text: "Added." }, calls: 1, doubts: 0 },
  })
})

test("a write whose result is nested too deep to serialize is applied, too", async () => {
  const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`
  const play: Play = (_call, response, id) => {
    response.writeHead(200, { "content-type": "application/json" })
    response.end(
      `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":{"content":[],"structuredContent":{"a":${deep}}}}`,
    )
    return "played"
  }
  expect(await oneWrite(play)).toMatchObject({
    ...{ end: { status: "ok", text: expect.stringContaining("nested too deep") }, doubts: 0 },
  })
})

test("a server without tools prints nothing to stdout, which a program may need for its protocol", async () => {
  await using place = await anyDatabase[0]!.create()
  await using server = await PlayedServer.open([{ name: "add" }])
  server.capabilities = { tools: undefined }
  const debug = vi.spyOn(console, "debug").mockImplementation(() => {})
  const model = scripted(says("Done."))
  await using world = await openMcpWorld(servers({ notes: { url: server.url } }), { url: place.url, model })
  await world.begin("Look.")
  expect(model.received[0]?.request.tools).toEqual([])
  expect(debug).not.toHaveBeenCalled()
  debug.mockRestore()
})

test("a server of the modern protocol whose tools declare invalid headers prints nothing of its text, and its other tools work", async () => {
  await using place = await anyDatabase[0]!.create()
  const properties = { a: { type: "string", "x-mcp-header": "\u001b]0;hello\u0007" } }
  const tools = [
    { name: "bad", inputSchema: { type: "object" as const, properties } },
    { name: "good", inputSchema: { type: "object" as const } },
  ]
  const handler = createMcpHandler(
    () => {
      const server = new Server({ name: "played", version: "1" }, { capabilities: { tools: {} } })
      server.setRequestHandler("tools/list", () => ({ tools }))
      return server
    },
    { legacy: "reject" },
  )
  const http = createServer(
    (request, response) => void getRequestListener((given) => handler.fetch(given))(request, response),
  )
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve))
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {})
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
  const model = scripted(says("Done."))
  {
    await using world = await openMcpWorld(servers({ notes: { url } }), { url: place.url, model })
    await world.begin("Look.")
  }
  expect(model.received[0]?.request.tools.map(({ name }) => name)).toEqual(["notes__good"])
  expect(warn).not.toHaveBeenCalled()
  warn.mockRestore()
  http.close()
})
