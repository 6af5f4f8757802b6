import { describe, expect, test } from "vitest"
import type { ToolCall } from "../../core/protocol/socket.ts"
import { calls, says, scripted, type ScriptedReply } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"
import { connect, Machine } from "../support/server/device.ts"
import { openServer, type Peer } from "../support/server/socket.ts"

const created = (title: string) => calls("create_task", { title })
const titles = ({ tasks }: Machine) => [...tasks.values()].map(({ title }) => title)

describe.each(anyDatabase)("a conversation used from two devices on $name", (database) => {
  const open = async (...script: readonly ScriptedReply[]) => {
    const server = await openServer({ database, model: scripted(...script) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    const [phone, laptop] = [new Machine(), new Machine()]
    const held = Promise.withResolvers<ToolCall>()
    // The first read on the phone is answered when the test allows it: until then a run is at work.
    const deals = (call: ToolCall) =>
      call.action === "select" && phone.calls.length === 0 ? void held.resolve(call) : phone.deal(call)
    const at = { url: server.url, token }
    return {
      ...{ server, ada, phone, laptop, held: held.promise },
      onPhone: await connect(phone, { ...at, deviceId: "phone", deals }),
      onLaptop: await connect(laptop, { ...at, deviceId: "laptop" }),
      answerHeld: async (peer: Peer) => {
        const call = await held.promise
        peer.send({ type: "tool_result", id: call.id, ...phone.deal(call) })
      },
      /** Resolves when as many messages wait behind the run at work. */
      waiting: (id: string, count: number) =>
        expect.poll(async () => (await ada.get(`/api/conversations/${id}/queue`)).body.items).toHaveLength(count),
      [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
    }
  }
  const say = (message: string, context: Record<string, unknown>) => ({ type: "chat_request", message, context })

  test("a run stays on the device that asked for it; a message from another device runs on that one, in its turn", async () => {
    await using world = await open(
      ...[calls("list_tasks"), created("From the phone"), says("First.")],
      ...[created("From the laptop"), says("Second.")],
      ...[created("From the phone again"), says("Third.")],
    )
    const { onPhone, onLaptop, phone, laptop } = world
    onPhone.send(say("look, then add one", { mode: "auto" }))
    const { conversationId: id = "" } = await world.held
    onLaptop.send(say("add one here", { conversationId: id }))
    await world.waiting(id, 1)
    // Sent while the phone is still the device: the waiting message moves the conversation first.
    onPhone.send(say("and another one", { conversationId: id }))
    await world.waiting(id, 2)
    await world.answerHeld(onPhone)
    await onPhone.until((seen) => seen.filter(({ type }) => type === "final").length === 2)
    expect(titles(phone)).toEqual(["From the phone", "From the phone again"])
    expect(titles(laptop)).toEqual(["From the laptop"])
  })

  test("a refused message moves nothing: the pending change can still be approved", async () => {
    await using world = await open(created("Buy milk"), says("Done."))
    const { ada, onPhone, onLaptop, phone, laptop } = world
    onPhone.send(say("milk", {}))
    const { proposals, conversationId: id = "" } = await onPhone.next("awaiting_confirmation")
    onLaptop.send(say("   ", { conversationId: id }))
    await onLaptop.next("error")
    const { status } = (await ada.post(`/api/agent/proposals/${proposals[0]?.id}/commit`)).body
    expect([status, titles(phone), titles(laptop)]).toEqual(["applied", ["Buy milk"], []])
  })

  test("a message from another device instead of a yes ends what waits, and its run works there", async () => {
    await using world = await open(created("Buy milk"), calls("list_tasks"), says("Nothing there."))
    const { ada, onPhone, onLaptop, phone, laptop } = world
    onPhone.send(say("milk", {}))
    const { proposals, conversationId: id = "" } = await onPhone.next("awaiting_confirmation")
    onLaptop.send(say("what is there?", { conversationId: id }))
    expect(await onLaptop.next("final")).toMatchObject({ response: "Nothing there." })
    expect((await ada.get(`/api/agent/proposals/${proposals[0]?.id}`)).body.status).toBe("superseded")
    expect([phone.calls, laptop.calls]).toMatchObject([[], [{ action: "select" }]])
    expect((await ada.get(`/api/conversations/${id}`)).body).toMatchObject({ site: "device", deviceId: "laptop" })
  })
})
