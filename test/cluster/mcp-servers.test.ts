import { describe, expect, test } from "vitest"
import { OutboundPolicy } from "../../src/models/network/outbound-policy.ts"
import { calls, says, scripted } from "../../src/testing.ts"
import { shared } from "../support/cluster/links.ts"
import { PlayedServer } from "../support/mcp/played-server.ts"
import { Face, type FaceOptions } from "../support/server/face.ts"

const reach = new OutboundPolicy(["127.0.0.1"])

describe.each(shared)("MCP servers of people, with two servers on one $name", ({ create }) => {
  test("are there at the other one as soon as they are named, and are not called once they are removed", async () => {
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
})
