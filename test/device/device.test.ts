import { describe, expect, test } from "vitest"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, type Connecting, Machine } from "../support/server/device.ts"
import { openServer } from "../support/server/socket.ts"
import { TurnedClock } from "../support/loop/world.ts"

const CONVERSATION = expect.stringMatching(/^conv_/)

const MILK = { title: "Buy milk" }

describe.each(anyDatabase)("a device on $name", (database) => {
  const open = async (script: readonly ScriptedReply[], clock?: TurnedClock) => {
    const server = await openServer({ database, model: scripted(...script), ...(clock ? { clock } : {}) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const machine = new Machine()
    return {
      server,
      ada,
      machine,
      connect: (more: Partial<Connecting> = {}) =>
        connect(machine, { url: server.url, token, deviceId: "laptop", ...more }),
      strays: async () => {
        const text = await (await fetch(`${server.url}/metrics`)).text()
        return Number(/^pawl_device_answers_total\{outcome="stray"\} (\d+)/m.exec(text)?.[1] ?? 0)
      },
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  }
  const resultsOf = async ({ ada }: Pick<Awaited<ReturnType<typeof open>>, "ada">, id: string) => {
    const { messages } = (await ada.get(`/api/conversations/${id}`)).body
    return messages
      .filter(({ role }: { role: string }) => role === "tool")
      .map(({ content }: { content: string }) => content)
  }

  test("an older client that only chats is the device of its own runs: calls and text over one socket", async () => {
    await using world = await open([calls("create_task", MILK), calls("list_tasks"), says("There it is.")])
    const { machine } = world
    using peer = await connect(machine, { url: world.server.url, token: await world.server.tokenFor("ada") })
    peer.send({ type: "chat_request", message: "Buy milk", context: { mode: "auto", timeZone: "Europe/Berlin" } })
    expect(await peer.next("final")).toEqual({ type: "final", response: "There it is.", conversationId: CONVERSATION })
    expect(peer.types().filter((type) => type !== "text_chunk")).toEqual(["tool_call", "tool_call", "final"])
    const [insert, select] = machine.calls
    // Absent fields are omitted, names are camelCase, flags are numbers.
    expect(insert).toEqual({
      type: "tool_call",
      conversationId: CONVERSATION,
      id: expect.stringMatching(/^call_/),
      action: "insert",
      table: "tasks",
      data: {
        ...MILK,
        projectId: null,
        description: null,
        status: "todo",
        priority: "medium",
        assignee: null,
        dueDate: null,
        isAiSuggested: 1,
        isApproved: 1,
      },
    })
    expect(select).toEqual({
      type: "tool_call",
      conversationId: CONVERSATION,
      id: expect.any(String),
      action: "select",
      table: "tasks",
      filters: {},
      limit: 101,
    })
    expect(machine.tasks.get("local-1")).toMatchObject(MILK)
    const [{ id }] = (await world.ada.get("/api/conversations")).body.items
    const results = await resultsOf(world, id)
    expect(results[0]).toContain("Task created: Buy milk")
    expect(results[1]).toContain("Found 1 task(s)")
    expect(results[1]).toContain("local-1")
  })

  test("a run started over HTTP uses it, is bound to it, and an undo restores what it deleted", async () => {
    await using world = await open([calls("delete_task", { task_id: "Buy milk" }), says("Gone.")])
    const { ada, machine } = world
    machine.tasks.set("t1", {
      ...MILK,
      ...{ id: "t1", projectId: null, description: null, status: "todo", priority: "low", assignee: '["Ada"]' },
      ...{ dueDate: null, isAiSuggested: 0, isApproved: 1, createdAt: 5 },
    })
    const before = machine.tasks.get("t1")
    expect((await ada.post("/api/conversations", { site: "device" })).body).toMatchObject({
      code: "device_offline",
      status: 409,
    })
    using _ = await world.connect()
    expect((await ada.get("/api/devices")).body.items).toMatchObject([
      { deviceId: "laptop", ledger: true, offers: ["workspace"] },
    ])
    const { body: conversation } = await ada.post("/api/conversations", { site: "device" })
    expect(conversation).toMatchObject({ site: "device", deviceId: "laptop" })
    const { proposals } = (await ada.say(conversation.id, "delete it")).body
    expect(proposals[0].diff.before).toMatchObject({ ...MILK, id: "t1", assignee: ["Ada"] })
    expect(proposals[0].summary).toContain("there is no telling what")
    expect(machine.effects).toBe(0)
    expect((await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)).body.status).toBe("applied")
    expect(machine.tasks.size).toBe(0)
    await world.server.face.pawl.runtime.rest(conversation.id)
    const [{ id: audit }] = (await ada.get("/api/agent/audit")).body.items
    const undo = (await ada.post(`/api/agent/audit/${audit}/undo`)).body
    expect((await ada.post(`/api/agent/proposals/${undo.id}/commit`)).body.status).toBe("applied")
    expect(machine.tasks.get("t1")).toEqual(before)
  })

  test("the device of a conversation survives a restart and can be changed; a proposal for the other one is stale", async () => {
    await using world = await open([calls("create_task", MILK), says("Not done.")])
    const { ada, machine } = world
    using _one = await world.connect()
    using _two = await world.connect({ deviceId: "desktop" })
    const id = await ada.begin({ deviceId: "laptop" })
    const { proposals } = (await ada.say(id, "milk")).body
    const changed = await ada.patch(`/api/conversations/${id}`, { deviceId: "desktop" })
    expect(changed.body).toMatchObject({ site: "device", deviceId: "desktop" })
    await using second = await openServer({ database, model: scripted(), url: world.server.place })
    const again = (await (await second.visitor("ada")).get(`/api/conversations/${id}`)).body
    expect(again).toMatchObject({ site: "device", deviceId: "desktop" })
    const refused = await ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    expect(refused.body).toMatchObject({ status: 409, code: "proposal_stale" })
    expect(machine.calls).toEqual([])
    expect((await ada.patch(`/api/conversations/${id}`, { site: "server" })).body).toMatchObject({
      site: "server",
      deviceId: null,
    })
  })

  test("if it is away, a tool answers at once, and a commit waits: 409, still pending", async () => {
    await using world = await open([calls("list_tasks"), calls("create_task", MILK), says("Done.")])
    const { ada, machine } = world
    const id = await ada.begin({ deviceId: "laptop" })
    const { proposals } = (await ada.say(id, "milk")).body
    expect((await resultsOf(world, id))[0]).toContain("not connected")
    const commit = () => ada.post(`/api/agent/proposals/${proposals[0].id}/commit`)
    const refused = await commit()
    expect(refused.body).toMatchObject({ status: 409, code: "device_offline", proposal: { status: "pending" } })
    using watcher = await world.server.socket("ada")
    watcher.send({ type: "decide", proposalId: proposals[0].id, decision: "commit" })
    expect(await watcher.next("error")).toMatchObject({ code: "device_offline", id: proposals[0].id })
    const all = { decision: "yes", proposalIds: [proposals[0].id] }
    expect((await ada.post(`/api/conversations/${id}/decide`, all)).body).toMatchObject({ code: "device_offline" })
    using _ = await world.connect()
    expect((await commit()).body.status).toBe("applied")
    expect(machine.effects).toBe(1)
  })

  test("another person's device is not available, even under the same name", async () => {
    await using world = await open([calls("list_tasks"), says("No.")])
    using eve = await connect(new Machine(), {
      url: world.server.url,
      token: await world.server.tokenFor("eve"),
      deviceId: "laptop",
    })
    const id = await world.ada.begin({ deviceId: "laptop" })
    await world.ada.say(id, "look")
    expect((await resultsOf(world, id))[0]).toContain("not connected")
    expect(eve.types()).toEqual(["hello"])
    expect((await world.ada.get("/api/devices")).body.items).toEqual([])
  })

  test("its claims lower no gate, and without the right offer or scope it gets no calls", async () => {
    await using world = await open([calls("list_tasks"), says("No."), calls("create_task", MILK)])
    const { ada, machine } = world
    using powerless = await world.server.socket("ada", "read")
    powerless.send({ type: "hello", deviceId: "laptop", offers: ["workspace"] })
    expect(await powerless.next("error")).toMatchObject({ code: "forbidden" })
    using other = await world.connect({ offers: ["files"] })
    const id = await ada.begin({ deviceId: "laptop" })
    await ada.say(id, "look")
    expect(other.types()).toEqual(["hello"])
    using _ = await world.connect({ offers: ["workspace", "auto", "create_task"] })
    expect((await ada.say(id, "milk")).body.proposals).toHaveLength(1)
    expect(machine.calls).toEqual([])
  })

  test("an answer counts once, from the socket that was asked, and only while it is expected", async () => {
    const clock = new TurnedClock()
    await using world = await open([calls("list_tasks"), says("Late."), calls("list_tasks"), says("Nothing.")], clock)
    const { ada } = world
    using device = await world.connect({ deals: () => undefined })
    using second = await world.server.socket("ada")
    using eve = await world.server.socket("eve")
    const id = await ada.begin({ deviceId: "laptop" })
    const told = ada.say(id, "look")
    const { id: call } = await device.next("tool_call")
    const answer = { type: "tool_result", id: call, rows: [] }
    for (const peer of [second, eve]) {
      peer.send(answer)
      peer.send({ type: "ping" })
      await peer.next("pong")
    }
    device.send({ type: "tool_result", id: "call_nonsense", rows: [] })
    device.send({ type: "ping" })
    await device.next("pong")
    expect(await world.strays()).toBe(3)
    await clock.turn(29_000)
    expect(await resultsOf(world, id)).toEqual([])
    await clock.turn(1000)
    await told
    expect((await resultsOf(world, id))[0]).toContain("did not answer within 30 s")
    device.send(answer) // too late
    const again = ada.say(id, "look")
    await device.until((seen) => seen.filter(({ type }) => type === "tool_call").length === 2)
    const next = device.seen.findLast(({ type }) => type === "tool_call") as { id: string }
    expect(next.id).not.toBe(call)
    for (let i = 0; i < 3; i++) device.send({ ...answer, id: next.id })
    await again
    expect((await resultsOf(world, id))[1]).toContain("No tasks found")
    await expect.poll(() => world.strays()).toBe(6)
  })

  test("if it is cut off during a read, the read fails at once, and cancel does not wait for it", async () => {
    await using world = await open([calls("list_tasks"), says("Cut."), calls("list_tasks")])
    const { ada } = world
    const id = await ada.begin({ deviceId: "laptop" })
    const device = await world.connect({ deals: () => undefined })
    const told = ada.say(id, "look")
    await device.next("tool_call")
    device.socket.terminate()
    await told
    expect((await resultsOf(world, id))[0]).toContain("the device was disconnected")
    using next = await world.connect({ deals: () => undefined })
    const stopped = ada.say(id, "look again")
    await next.next("tool_call")
    expect((await ada.post(`/api/conversations/${id}/cancel`)).body).toEqual({ cancelled: true })
    await stopped
    expect((await ada.get(`/api/conversations/${id}`)).body.status).toBe("active")
  })

  test("a malformed answer is a result the model can act on; for a write it means in doubt", async () => {
    await using world = await open([calls("list_tasks"), says("Odd."), calls("create_task", MILK)])
    const { ada } = world
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    using _ = await world.connect({
      deals: ({ action }) => (action === "select" ? { rows: [{ id: 5 }] } : { ok: true }),
    })
    await ada.say(id, "look")
    expect((await resultsOf(world, id))[0]).toContain("cannot be read")
    const { run, proposals } = (await ada.say(id, "milk")).body
    expect(run).toMatchObject({ status: "paused", pauseReason: "in_doubt" })
    expect(proposals).toMatchObject([{ status: "in_doubt" }])
  })

  test("characters of its answers that cannot be stored are replaced", async () => {
    await using world = await open([calls("list_tasks"), says("Odd.")])
    const id = await world.ada.begin({ deviceId: "laptop" })
    using _ = await world.connect({ deals: () => ({ error: "a\0b\ud800" }) })
    await world.ada.say(id, "look")
    expect((await resultsOf(world, id))[0]).toContain("a\ufffdb\ufffd")
  })
})
