import { beforeAll, describe, expect, test } from "vitest"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, fails, hangs, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const TOOLS = ["look", "smell"].map((name) => ({ type: "function", name, parameters: { type: "object" } }))

describe.each(anyDatabase)("responses are read back with the openai package on $name", ({ create }) => {
  let url: string
  let face: Face
  let ada: OpenAiPerson
  let native: Visitor
  let current: ScriptedModel

  const model = currentScript(() => current)
  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const respond = (body: object) => ada.client.responses.create({ model: "pawl/test", ...body })
  const read = (id: string) => ada.client.responses.retrieve(id)
  /** Leaves out the creation time and the object's name. */
  const told = ({ id, status, output, usage, pawl }: Record<string, unknown>) => ({ id, status, output, usage, pawl })
  const eventsOf = async (id: string, after?: number) => {
    const query = { stream: true, ...(after === undefined ? {} : { starting_after: after }) }
    const events = []
    for await (const event of await ada.client.responses.retrieve(id, query)) events.push(event)
    return events
  }

  beforeAll(async () => {
    url = (await create()).url
    face = await Face.open({ url, model })
    ada = await openAiAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })

  test("a stored response reads the same, also after a restart and after other responses", async () => {
    plays(replies(says("Let me look."), calls("unknown_tool")), says("Four.", { chunks: 3 }), says("Welcome."))
    const first = await respond({ input: "How many?", temperature: 0.5 })
    await respond({ input: "Thanks.", previous_response_id: first.id })
    await using later = await Face.open({ url, model })
    const again = await (await openAiAs(later, "ada")).client.responses.retrieve(first.id)
    expect(told(again)).toEqual(told(first))
    expect(again).toMatchObject({
      object: "response",
      model: "pawl/test",
      temperature: 0.5,
      output_text: first.output_text,
    })
  })

  test("a lost stream resumes after any event, with the missing text", async () => {
    plays(replies(says("Let me look.", { chunks: 4 }), calls("unknown_tool")), says("Four 🌍 of them.", { chunks: 5 }))
    const live = []
    for await (const event of await respond({ input: "How many?", stream: true })) live.push(event)
    const { id } = live[0].response
    const last = live.at(-1)
    type Event = { type: string; delta: string; sequence_number: number }
    /** Returns the text of events up to a sequence number. */
    const text = (events: Event[], upTo = Number.POSITIVE_INFINITY) =>
      events
        .filter(({ type }) => type === "response.output_text.delta")
        .map(({ delta, sequence_number: number }) =>
          delta.slice(0, Math.max(0, delta.length - Math.max(0, number - upTo))),
        )
        .join("")
    for (let number = 0; number < last.sequence_number; number += 3) {
      const rest = await eventsOf(id, number)
      expect(text(live, number) + text(rest)).toBe("Let me look.Four 🌍 of them.")
      expect(rest.at(-1).sequence_number).toBe(last.sequence_number)
      expect(told(rest.at(-1).response)).toEqual(told(last.response))
    }
    expect(await eventsOf(id, last.sequence_number)).toEqual([])
  })

  test("the client replays a response by its id, and assembles the same one", async () => {
    plays(says("Four of them.", { chunks: 4 }))
    const first = await respond({ input: "How many?" })
    const stream = ada.client.responses.stream({ response_id: first.id, starting_after: 2 })
    for await (const _ of stream);
    expect(await stream.finalResponse()).toMatchObject({
      id: first.id,
      status: "completed",
      output_text: "Four of them.",
    })
  })

  test("a running response is reported as such, streams its text, and can be cancelled once", async () => {
    const written = Promise.withResolvers<void>()
    plays(replies(says("Half of "), hangs()))
    const live = await respond({ input: "How many?", stream: true })
    const [began] = [(await live[Symbol.asyncIterator]().next()).value]
    const { id } = began.response
    expect(await read(id)).toMatchObject({ status: "in_progress", output: [], error: null })
    const watching = (async () => {
      const events = []
      for await (const event of await ada.client.responses.retrieve(id, { stream: true })) {
        events.push(event)
        if (event.type === "response.output_text.delta") written.resolve()
      }
      return events
    })()
    await written.promise
    expect(await ada.client.responses.cancel(id)).toMatchObject({ id, status: "cancelled", error: null })
    expect((await watching).at(-1)).toMatchObject({
      type: "response.failed",
      response: { error: { code: "cancelled" } },
    })
    expect(await ada.client.responses.cancel(id)).toMatchObject({ status: "cancelled" })
    plays(says("Four."))
    const next = await respond({ input: "And now?", conversation: began.response.conversation.id })
    expect((await ada.client.responses.cancel(id)).status).toBe("cancelled")
    expect((await read(next.id)).status).toBe("completed")
  })

  test("a response in the background is returned at once, and is read, streamed or cancelled by its id", async () => {
    plays(replies(says("Half of "), hangs()))
    const begun = await respond({ input: "How many?", background: true })
    expect(begun).toMatchObject({ status: "in_progress", background: true, output: [], completed_at: null })
    expect(await read(begun.id)).toMatchObject({ id: begun.id, status: "in_progress" })
    expect(await ada.client.responses.cancel(begun.id)).toMatchObject({ id: begun.id, status: "cancelled" })

    plays(says("Four.", { chunks: 2 }))
    const next = await respond({ input: "And now?", background: true })
    const events = await eventsOf(next.id, 1)
    expect(events.at(-1)).toMatchObject({ type: "response.completed", response: { status: "completed" } })
    expect(await read(next.id)).toMatchObject({ output_text: "Four." })

    plays(says("Five.", { chunks: 2 }))
    const live = []
    for await (const event of await respond({ input: "And?", background: true, stream: true })) live.push(event)
    expect(live.at(-1).response).toMatchObject({ status: "completed", background: true })
  })

  test("a response in the background that fails is read as failed, and a repetition with its key is the same one", async () => {
    plays(always(fails("quota_spent")))
    const create = () =>
      ada.client.responses.create(
        { model: "pawl/test", input: "How many?", background: true },
        { headers: { "idempotency-key": "background-1" } },
      )
    const [first, second] = [await create(), await create()]
    expect(second.id).toBe(first.id)
    for await (const _ of await ada.client.responses.retrieve(first.id, { stream: true }));
    expect(await read(first.id)).toMatchObject({ status: "failed", error: { code: "quota_spent" } })
    expect(current.received).toHaveLength(1)
  })

  test("a pending response is read in its current state, and a failed one with its error", async () => {
    plays(calls("create_task", { title: "Buy milk" }), says("Done."))
    const waits = await ada.client.responses.create({ model: "pawl/workspace", input: "milk" })
    expect(told(await read(waits.id))).toEqual(told(waits))
    await native.post(`/api/agent/proposals/${waits.pawl.proposals[0].id}/commit`)
    await face.pawl.runtime.rest(waits.conversation.id)
    expect(await read(waits.id)).toMatchObject({ output_text: "Done.", pawl: { status: "completed", proposals: [] } })
    plays(always(fails("quota_spent")))
    const events = []
    for await (const event of await respond({ input: "Hello", stream: true })) events.push(event)
    expect(await read(events[0].response.id)).toMatchObject({ status: "failed", error: { code: "quota_spent" } })
  })

  test("a run that waits for functions is one response per pause, each with its inputs listed", async () => {
    plays(calls(["client-look", {}], ["client-smell", {}]), calls("client-look", {}), says("A rose."))
    const first = await respond({ input: "What is it?", tools: TOOLS })
    const [look, smell] = first.output
    const bring = (id: string, ...outputs: [{ call_id: string }, string][]) => {
      const input = outputs.map(([{ call_id }, output]) => ({ type: "function_call_output", call_id, output }))
      return respond({ input, tools: TOOLS, previous_response_id: id })
    }
    const half = await bring(first.id, [look, "red"])
    expect(half.output).toMatchObject([{ type: "function_call", call_id: smell.call_id }])
    expect(told(await read(half.id))).toEqual(told(half))
    const second = await bring(half.id, [smell, "sweet"])
    const third = await bring(second.id, [second.output[0], "thorns"])
    expect(third.output_text).toBe("A rose.")
    for (const response of [first, second, third]) {
      expect(told(await read(response.id))).toEqual(told(response))
      expect((await eventsOf(response.id)).at(-1).response.output).toEqual(response.output)
    }
    const given = async (id: string) => {
      const items = []
      for await (const item of ada.client.responses.inputItems.list(id, { order: "asc", limit: 1 })) items.push(item)
      return items.map(({ content, output }) => output ?? content[0].text)
    }
    expect([await given(first.id), await given(third.id)]).toEqual([["What is it?"], ["thorns"]])
  })

  test("a JSON answer is read back as JSON", async () => {
    plays(says("nonsense"), says('{"count": 4}'))
    const schema = { type: "object", properties: { count: { type: "number" } }, required: ["count"] }
    const first = await respond({
      input: "How many?",
      text: { format: { type: "json_schema", name: "answer", schema } },
    })
    expect(told(await read(first.id))).toEqual(told(first))
  })

  test("an invalid position to resume after is refused, and one past the end returns nothing", async () => {
    plays(says("Four."))
    const { id } = await respond({ input: "How many?" })
    for (const query of [
      { starting_after: -1 },
      { starting_after: 1.5 },
      { starting_after: "x" },
      { stream: "maybe" },
    ]) {
      const refused = await refusalOf(ada.client.responses.retrieve(id, { stream: true, ...query }))
      expect([refused.status, refused.code]).toEqual([400, "bad_request"])
    }
    expect(await eventsOf(id, Number.MAX_SAFE_INTEGER)).toEqual([])
    const listed = (query: object) => ada.client.responses.inputItems.list(id, query)
    for (const query of [{ limit: 0 }, { limit: 1e9 }, { order: "odd" }])
      expect((await refusalOf(Array.fromAsync(listed(query)))).status).toBe(400)
    expect((await refusalOf(Array.fromAsync(listed({ after: "msg_0" })))).status).toBe(404)
  })

  test("another person's response is reported as missing, on every route", async () => {
    plays(calls("client-look", {}))
    const { id } = await respond({ input: "What is it?", tools: TOOLS })
    const bob = (await openAiAs(face, "bob")).client
    const listed = async (name: string) => {
      for await (const _ of bob.responses.inputItems.list(name));
    }
    const names = [id, `${id}_3`, "resp_0", "resp_", "nonsense", "resp_x_99999999999999999999"]
    const asked = names.flatMap((name) => [
      refusalOf(bob.responses.retrieve(name)),
      refusalOf(bob.responses.retrieve(name, { stream: true })),
      refusalOf(bob.responses.cancel(name)),
      refusalOf(bob.responses.delete(name)),
      refusalOf(listed(name)),
    ])
    const refusals = await Promise.all(asked)
    expect(refusals.map(({ status, error }) => [status, error])).toEqual(refusals.map(() => [404, refusals[0].error]))
    expect(await refusalOf(read(`${id}_1`))).toMatchObject({ status: 404 })
    expect((await read(id)).status).toBe("completed")
    const reader = (await openAiAs(face, "ada", "read")).client
    expect((await reader.responses.retrieve(id)).id).toBe(id)
    expect(await refusalOf(reader.responses.cancel(id))).toMatchObject({ status: 403 })
    const speaker = (await openAiAs(face, "ada", "read", "chat")).client
    expect(await refusalOf(speaker.responses.delete(id))).toMatchObject({ status: 403 })
  })

  test("deleting the only response of a conversation erases it; one response of several cannot be deleted", async () => {
    plays(says("Four."), says("Welcome."), calls("client-look", {}), says("A rose."))
    const first = await respond({ input: "How many?" })
    const second = await respond({ input: "Thanks.", previous_response_id: first.id })
    const asks = await respond({ input: "What is it?", tools: TOOLS })
    const output = { type: "function_call_output", call_id: asks.output[0].call_id, output: "red" }
    const third = await respond({ input: [output], tools: TOOLS, previous_response_id: asks.id })
    for (const { id } of [first, second, asks, third]) {
      const refused = await refusalOf(ada.client.responses.delete(id))
      expect([refused.status, refused.message]).toEqual([
        400,
        expect.stringContaining("DELETE /api/conversations/conv_"),
      ])
      expect((await read(id)).id).toBe(id)
    }
    plays(always(says("Four.")))
    const alone = await respond({ input: "How many?" })
    await ada.client.responses.delete(alone.id)
    expect((await refusalOf(read(alone.id))).status).toBe(404)
    expect((await native.get(`/api/conversations/${alone.conversation.id}`)).status).toBe(404)
  })
})
