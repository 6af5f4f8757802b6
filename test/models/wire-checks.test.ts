import { beforeAll, describe, expect, test } from "vitest"
import type { HistoryMessage } from "../../core/engine/model.ts"
import { collect } from "../../core/models/providers/server.fixture.ts"
import type { CallId } from "../../core/protocol/ids.ts"
import { problemOf, wireModels, wireProviders } from "./wire/providers.ts"
import { thoughtOf } from "./wire/refuse.ts"

type Json = Record<string, unknown>

const call = (id: string) => ({ type: "call", id: id as CallId, name: "look", input: { key: 1 } }) as const
const result = (id: string, text: string) =>
  ({ callId: id as CallId, name: "look", status: "ok" as const, text }) as const
const history: HistoryMessage[] = [
  { role: "user", text: "Look twice." },
  { role: "assistant", parts: [{ type: "text", text: "I look." }, call("call_1"), call("call_2")] },
  { role: "tool", results: [result("call_1", "First."), result("call_2", "Second.")] },
]
const tools = [{ name: "look", description: "Looks.", inputSchema: { type: "object", properties: {} } }]

const isResult = (item: Json) =>
  item.role === "tool" || /^(?:function_call_output|tool_result)$/.test(`${item.type}`) || has(item, RESULTS)
const isCall = (item: Json) => /^(?:function_call|tool_use|function)$/.test(`${item.type}`) || has(item, CALLS)
const [RESULTS, CALLS] = [
  ["functionResponse", "toolResult"],
  ["functionCall", "toolUse"],
]
const has = (item: Json, names: readonly string[]) => typeof item === "object" && names.some((name) => name in item)

/** Every list of the messages, with its content changed. */
function inLists(value: unknown, change: (list: Json[]) => Json[]): unknown {
  if (Array.isArray(value)) return change(value as Json[]).map((item) => inLists(item, change))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      /^tools|toolConfig$/.test(name) ? inner : inLists(inner, change),
    ]),
  )
}

const without = (is: (item: Json) => boolean) => (body: Json) => {
  let done = false
  return inLists(body, (list) => list.filter((item) => done || !(done = is(item))))
}

/** Swaps the contents of the matching elements. */
const reversed = (is: (item: Json) => boolean) => (body: Json) => {
  const found: Json[] = []
  inLists(body, (list) => (found.push(...list.filter((item) => is(item))), list))
  return inLists(body, (list) => list.map((item) => (is(item) ? (found.pop() as Json) : item)))
}

const rewritten = (from: RegExp | string, to: string) => (body: Json) =>
  JSON.parse(JSON.stringify(body).replaceAll(from, to)) as unknown

const messagesOf = (body: Json) => (body.messages ?? body.input ?? body.contents) as Json[]
const withMessages = (body: Json, messages: Json[]) => {
  const name = "messages" in body ? "messages" : "input" in body ? "input" : "contents"
  return { ...body, [name]: messages }
}

/** Faults that no provider accepts, or at least one refuses. */
const faults: Readonly<Record<string, (body: Json) => unknown>> = {
  "a result is lost": without(isResult),
  "a call is lost, and its result is not": without(isCall),
  "words stand between calls and results": (body) =>
    withMessages(
      body,
      messagesOf(body).flatMap((item, at, all) => {
        const asked = all.find(({ role }) => role === "user") as Json
        return at > 0 && JSON.stringify(item).includes("First.") ? [asked, item] : [item]
      }),
    ),
  "it is cut between a call and its result": (body) => {
    const at = messagesOf(body).findIndex((item) => JSON.stringify(item).includes("First."))
    return withMessages(body, messagesOf(body).slice(at))
  },
  "its results are lost with their message": (body) =>
    withMessages(
      body,
      messagesOf(body).filter((item) => !/First\.|Second\./.test(JSON.stringify(item))),
    ),
  "no tools are declared": ({ tools: _, toolConfig: __, tool_choice: ___, ...body }) => body,
  "a tool is declared without a name that is one": rewritten(/"name":"look"/g, '"name":"lo ok"'),
  "another model's thought is in it": rewritten("I look.", thoughtOf("other/model")),
  "a text is blank": rewritten("Look twice.", " "),
  "half a character is in it": rewritten("First.", "\\ud83d"),
  "a field is in it that nobody knows": (body) => ({ ...body, sings: true }),
  "nobody has said anything": (body) => withMessages(body, []),
}

/** Faults for formats in which only ids distinguish results. */
const faultsOfIds: typeof faults = {
  "two results stand in each other's place": reversed(isResult),
  "an id is used twice": rewritten(/call_2/g, "call_1"),
}

describe.each(wireModels)("a request to %s", (model) => {
  let body: Json
  beforeAll(async () => {
    const said = { number: 1, thinks: false, words: "Hi.", calls: [], finish: "stop" } as const
    const models = wireProviders({
      answer(judged) {
        body = judged.body as Json
        return { type: "says", said, breaksOff: false }
      },
      asked() {},
    })
    await collect(await models.get(model, "" as never), { system: "S", history, tools, toolChoice: "auto" })
  })

  test("in our format is accepted", () => {
    expect(problemOf({ model, body })).toBeUndefined()
  })

  // Gemini's have no ids, and Mistral's are not ours.
  const own = /google|mistral/.test(model) ? {} : faultsOfIds
  test.each(Object.entries({ ...faults, ...own }))("is refused if %s", (_, plant) => {
    const broken = plant(body)
    expect(broken).not.toEqual(body)
    expect(problemOf({ model, body: broken })).toBeDefined()
  })
})

describe("Bedrock refuses a request", () => {
  const model = wireModels.find((name) => name.startsWith("bedrock/")) as string
  const point = { cachePoint: { type: "default" } }
  const thought = { reasoningContent: { reasoningText: { text: "Hm.", signature: "s" } } }
  const toolUse = { toolUse: { toolUseId: "call_1", name: "look", input: {} } }
  const results = { role: "user", content: [{ toolResult: { toolUseId: "call_1", content: [{ text: "First." }] } }] }
  const inferenceConfig = { maxTokens: 4096 }
  const toolConfig = {
    tools: [{ toolSpec: { name: "look", description: "d", inputSchema: { json: { ...tools[0]?.inputSchema } } } }],
  }
  const asked = (content: readonly object[], more: Json = {}) => ({
    messages: [{ role: "user", content: [{ text: "Look." }] }, { role: "assistant", content }, results],
    ...{ inferenceConfig, toolConfig, ...more },
  })
  const thinking = (budget: number) => ({
    additionalModelRequestFields: { thinking: { type: "enabled", budget_tokens: budget } },
  })
  const told = (content: readonly object[]) => ({ messages: [{ role: "user", content }] })
  const text = { text: "Look." }

  test.each([
    ["a point behind a thought", asked([thought, point, toolUse]), asked([thought, toolUse, point])],
    ["a point behind nothing", told([point, text]), told([text, point])],
    ["five points", told(Array(5).fill([text, point]).flat()), told(Array(4).fill([text, point]).flat())],
    [
      "calls that no thought stands before",
      asked([toolUse], thinking(2048)),
      asked([thought, toolUse], thinking(2048)),
    ],
    [
      "a thought that takes it all",
      asked([thought, toolUse], thinking(4096)),
      asked([thought, toolUse], thinking(4095)),
    ],
  ])("for %s", (_, refused, taken) => {
    expect(problemOf({ model, body: taken })).toBeUndefined()
    expect(problemOf({ model, body: refused })).toBeDefined()
  })
})
