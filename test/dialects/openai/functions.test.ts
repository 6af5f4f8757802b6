import { beforeAll, describe, expect, test } from "vitest"
import { TurnedClock } from "../../../core/engine/turned-clock.fixture.ts"
import { always, scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { calls, replies, says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { type OpenAiPerson, openAiAs, refusalOf } from "../openai-client.ts"
import { Face, type Visitor } from "../../support/server/face.ts"
import { currentScript } from "../../support/current-script.ts"

const PARAMETERS = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }
const ABOUT = { name: "get_weather", description: "The weather of a city.", parameters: PARAMETERS }
const TOOLS = [{ type: "function", function: ABOUT }]
const WEATHER = calls("client-get_weather", { city: "Oslo" })

describe.each(anyDatabase)("functions of an OpenAI client on $name", ({ create }) => {
  let url: string
  let face: Face
  let ada: OpenAiPerson
  let native: Visitor
  let current: ScriptedModel

  const clock = new TurnedClock(Date.now())
  const model = currentScript(() => current)
  const plays = (...script: ScriptedReply[]) => (current = scripted(...script))
  const chat = (messages: object[], more: object = {}) =>
    ada.client.chat.completions.create({ model: "pawl/test", messages, tools: TOOLS, ...more })
  const asked = { role: "user", content: "How is the weather?" }
  const toolMessage = (id: string, content: string) => ({ role: "tool", tool_call_id: id, content })

  beforeAll(async () => {
    url = (await create()).url
    face = await Face.open({ url, model, clock })
    ada = await openAiAs(face, "ada")
    native = await face.as("ada")
    return () => face[Symbol.asyncDispose]()
  })

  test("a chat completion requests a function call, and continues with its result in one run", async () => {
    plays(replies(says("I look."), WEATHER), says("It rains."))
    const first = await chat([asked])
    const [choice] = first.choices
    expect(choice).toMatchObject({
      finish_reason: "tool_calls",
      message: {
        content: "I look.",
        tool_calls: [{ function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }],
      },
    })
    expect(current.received[0]?.request.tools.at(-1)).toMatchObject({
      name: "client-get_weather",
      inputSchema: PARAMETERS,
    })
    const run = (await native.get(`/api/runs/${first.pawl.run_id}`)).body
    expect([run.status, run.pauseReason]).toEqual(["paused", "awaiting_client"])
    // A page that is opened now can show the pending call and its deadline.
    const waits = (await native.get(`/api/conversations/${first.pawl.conversation_id}`)).body
    const callId = choice.message.tool_calls[0].id.split("-")[0]
    const expiresAt = new Date(clock.now() + 15 * 60_000).toISOString()
    expect([waits.status, waits.handedOver]).toEqual(["awaiting_confirmation", [{ callId, expiresAt }]])
    const second = await chat([asked, choice.message, toolMessage(choice.message.tool_calls[0].id, "rain, 4 °C")])
    expect(second.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "It rains." } })
    expect([second.pawl.run_id, second.pawl.conversation_id]).toEqual([first.pawl.run_id, first.pawl.conversation_id])
    const result = current.received[1]?.history.at(-1)
    expect(JSON.stringify(result)).toContain("Words from outside")
    const { messages, handedOver } = (await native.get(`/api/conversations/${first.pawl.conversation_id}`)).body
    expect(handedOver).toEqual([])
    expect(messages.map(({ role, content }: { role: string; content: string }) => [role, content])).toEqual([
      ["user", "How is the weather?"],
      ["assistant", "I look."],
      ["tool", "rain, 4 °C"],
      ["assistant", "It rains."],
    ])
    // The answer was lost: the same request joins the same run; a different one is too late.
    const again = await chat([asked, choice.message, toolMessage(choice.message.tool_calls[0].id, "rain, 4 °C")])
    expect(again.choices[0].message.content).toBe("It rains.")
    const other = chat([asked, choice.message, toolMessage(choice.message.tool_calls[0].id, "sun")])
    const late = await refusalOf(other)
    expect([late.status, late.code, late.headers.get("x-should-retry")]).toEqual([409, "call_settled", "false"])
    expect(current.received).toHaveLength(2)
  })

  test("the client assembles the same call from a stream", async () => {
    plays(WEATHER)
    const chunks = []
    for await (const chunk of await chat([asked], { stream: true })) chunks.push(chunk.choices[0])
    const told = chunks.flatMap(({ delta }) => delta.tool_calls ?? [])
    expect(told).toMatchObject([{ index: 0, function: { name: "get_weather", arguments: '{"city":"Oslo"}' } }])
    expect(chunks.at(-1).finish_reason).toBe("tool_calls")
  })

  test("responses request function calls too, and continue with the output, also after a restart", async () => {
    const tools = [{ type: "function", ...ABOUT }]
    plays(WEATHER, says("It rains."), says("You are welcome."))
    const stream = ada.client.responses.stream({ model: "pawl/test", input: "How is the weather?", tools })
    for await (const _ of stream);
    const first = await stream.finalResponse()
    expect(first).toMatchObject({ status: "completed", output: [{ type: "function_call", name: "get_weather" }] })
    await using later = await Face.open({ url, model, clock })
    const { client } = await openAiAs(later, "ada")
    const input = [{ type: "function_call_output", call_id: first.output[0].call_id, output: "rain" }]
    const body = { model: "pawl/test", tools }
    const second = await client.responses.create({ ...body, input, previous_response_id: first.id })
    expect([second.output_text, second.conversation]).toEqual(["It rains.", first.conversation])
    expect(second.id).not.toBe(first.id)
    const third = await client.responses.create({ ...body, input: "Thanks.", previous_response_id: second.id })
    expect(third.output_text).toBe("You are welcome.")
  })

  test("a new message settles the pending call, with or without its result", async () => {
    plays(WEATHER, says("As you like."))
    const first = await chat([asked])
    const headers = { "x-pawl-conversation": first.pawl.conversation_id }
    const body = { model: "pawl/test", messages: [{ role: "user", content: "Never mind." }] }
    const next = await ada.client.chat.completions.create(body, { headers })
    expect(next.choices[0].message.content).toBe("As you like.")
    expect(JSON.stringify(current.received[1]?.history)).toContain("did not send a result before")
    expect(current.received[1]?.request.tools).toEqual([expect.objectContaining({ name: "no_tools" })])
    const { message } = first.choices[0]
    const late = await refusalOf(chat([asked, message, toolMessage(message.tool_calls[0].id, "rain")]))
    expect([late.status, late.code]).toEqual([409, "call_settled"])
    plays(WEATHER, says("Rain it is."))
    const other = (await chat([asked])).choices[0].message
    const brought = [asked, other, toolMessage(other.tool_calls[0].id, "rain"), { role: "user", content: "In short?" }]
    expect((await chat(brought)).choices[0].message.content).toBe("Rain it is.")
    const { history } = current.received[1]!
    expect(JSON.stringify(history.at(-2))).toContain("rain")
    expect(history.at(-1)).toMatchObject({ role: "user", text: "In short?" })
  })

  test("a result after the deadline is refused, and the call has expired for the next message", async () => {
    plays(WEATHER, says("Never mind."))
    const first = await chat([asked])
    clock.turn(16 * 60_000)
    const { message } = first.choices[0]
    const late = await refusalOf(chat([asked, message, toolMessage(message.tool_calls[0].id, "rain")]))
    expect([late.status, late.code]).toEqual([409, "call_expired"])
    const id = first.pawl.conversation_id
    await native.say(id, "And now?")
    const { messages } = (await native.get(`/api/conversations/${id}`)).body
    expect(messages[2]).toMatchObject({ role: "tool", status: "expired" })
  })

  test("of two concurrent results one counts", async () => {
    plays(WEATHER, always(says("So it is.")))
    const { message } = (await chat([asked])).choices[0]
    const bring = (text: string) =>
      chat([asked, message, toolMessage(message.tool_calls[0].id, text)]).then(
        () => text,
        ({ code }) => code as string,
      )
    const outcomes = await Promise.all([bring("rain"), bring("sun")])
    expect(outcomes.filter((outcome) => outcome === "call_settled")).toHaveLength(1)
    const told = JSON.stringify(current.received[1]?.history.at(-1))
    expect(told).toContain(outcomes.find((outcome) => outcome !== "call_settled"))
    expect(current.received).toHaveLength(2)
  })

  test("another person's call is not found, and an undeclared tool does not exist", async () => {
    plays(WEATHER)
    const { message } = (await chat([asked])).choices[0]
    const bob = (await openAiAs(face, "bob")).client
    const asBob = (id: string) =>
      refusalOf(
        bob.chat.completions.create({ model: "pawl/test", messages: [asked, message, toolMessage(id, "rain")] }),
      )
    const refusals = [await asBob(message.tool_calls[0].id), await asBob("call_0-conv_0"), await asBob("nonsense")]
    expect(refusals.map(({ status, error }) => [status, error])).toEqual(refusals.map(() => [404, refusals[1].error]))
    plays(calls("client-other"), says("There is none."))
    expect((await chat([asked])).choices[0].message.content).toBe("There is none.")
    expect(JSON.stringify(current.received[1]?.history)).toContain("There is no tool")
  })

  test.each<[what: string, more: object]>([
    ["a tool that is no function", { tools: [{ type: "web_search" }] }],
    ["a name with a space", { tools: [{ type: "function", function: { name: "a b" } }] }],
    ["two of one name", { tools: [...TOOLS, ...TOOLS] }],
    ["a call that is demanded", { tool_choice: "required" }],
    [
      "a great many",
      { tools: Array.from({ length: 65 }, (_, at) => ({ type: "function", function: { name: `f${at}` } })) },
    ],
    [
      "a very long one",
      { tools: [{ type: "function", function: { name: "f", parameters: { x: "y".repeat(100_000) } } }] },
    ],
  ])("%s is refused", async (_what, more) => {
    plays()
    const refused = await refusalOf(chat([asked], more))
    expect([refused.status, refused.code]).toEqual([400, "bad_request"])
    expect(current.received).toHaveLength(0)
  })
})
