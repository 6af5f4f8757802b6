import { describe, expect, test } from "vitest"
import type { Script } from "../../core/models/scripted/script.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { shared } from "./links.ts"
import { AskingServer } from "../mcp/asking-server.ts"
import { servers } from "../mcp/mcp-world.ts"
import { PlayedServer } from "../mcp/played-server.ts"
import { Face, type FaceOptions } from "../support/server/face.ts"
import { readFrames, type SeenFrame } from "../support/server/stream.ts"

const NOTHING = { type: "object" as const, properties: {} }
const reach = new OutboundPolicy(["127.0.0.1"])

describe.each(shared)("MCP servers, with two servers on one $name", ({ create }) => {
  test("a person's server is available at the other node as soon as it is added, and is not called once it is removed", async () => {
    await using place = await create()
    await using server = await PlayedServer.open([{ name: "echo", description: "Says it again." }])
    const open = (model: FaceOptions["model"]) => Face.open({ url: place.url, model, reach })
    await using one = await open(scripted())
    await using two = await open(scripted(says("Nothing yet."), calls("notes__echo", {}), says("Done.")))
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    expect((await there.get("/api/mcp-servers")).body.items).toEqual([])
    const id = await there.begin({ agent: "test" })
    await there.say(id, "What is there?") // what it has read of her servers it keeps for a moment

    const added = await here.post("/api/mcp-servers", { name: "notes", url: server.url, agents: ["test"] })
    expect(added.status).toBe(201)
    expect((await there.get("/api/mcp-servers")).body.items).toEqual([added.body])
    expect((await there.post("/api/mcp-servers/notes/look")).status).toBe(200)

    expect((await there.say(id, "Say it again.")).body.run.status).toBe("paused")
    const { items } = (await there.get("/api/agent/proposals")).body
    expect((await here.delete("/api/mcp-servers/notes")).status).toBe(204)
    expect((await there.post(`/api/agent/proposals/${items[0].id}/commit`)).body.status).toBe("failed")
    expect(server.methods).not.toContain("tools/call")
  })

  test("its question is answered at the other node, and once", async () => {
    await using place = await create()
    await using server = await AskingServer.open("modern", { message: "Shall I?", requestedSchema: NOTHING })
    const mcp = servers({ inn: { url: server.url, data: "public", tools: { "*": "read" } } })
    const open = (...script: Script[]) => Face.open({ url: place.url, model: scripted(...script), mcp })
    await using one = await open(calls("inn__book", {}), says("Done."))
    await using two = await open()
    const [here, there] = [await one.as("ada"), await two.as("ada")]
    const id = await here.begin({ agent: "test" })
    const said = here.post(`/api/conversations/${id}/messages`, { text: "Book.", attended: true })
    const isAsked = (frames: readonly SeenFrame[]) => frames.at(-1)?.data.step === "question"
    const asked = (await readFrames(await there.watch(id), isAsked)).at(-1)?.data.detail
    const path = `/api/conversations/${id}/questions/${asked.id}`
    const first = await there.post(path, { action: "accept", content: {} })
    const late = await here.post(path, { action: "decline" })
    expect([first.status, late.status]).toEqual([200, 409])
    expect((await said).body.run.status).toBe("completed")
    expect(server.answers).toMatchObject([{ action: "accept" }])
  })
})
