import { expect, expectTypeOf, test } from "vitest"
import { z } from "zod"
import {
  answer,
  type Answer,
  type Conversation,
  defineTool,
  failed,
  type Message,
  openPawl,
  type PartialAnswer,
  type Pawl,
  type PawlEvent,
  type Proposal,
  type ToolAnswer,
} from "../../core/index.ts"
import { calls, says, scripted } from "../../core/testing.ts"

const count = defineTool({
  name: "count",
  description: "Counts.",
  input: z.object({ part: z.string(), least: z.number().default(0) }),
  effect: "read",
  run({ part, least }, { signal }) {
    expectTypeOf(part).toEqualTypeOf<string>()
    expectTypeOf(least).toEqualTypeOf<number>()
    expectTypeOf(signal).toEqualTypeOf<AbortSignal>()
    return { part, pieces: least }
  },
})

test("a tool's input and result keep their types", () => {
  expectTypeOf(count.run).parameter(0).toEqualTypeOf<{ part: string; least: number }>()
  expectTypeOf(count.run).returns.toEqualTypeOf<
    { part: string; pieces: number } | Promise<{ part: string; pieces: number }>
  >()
  // @ts-expect-error: the schema says text
  void (() => count.run({ part: 1, least: 0 }, {} as never))
  expectTypeOf(answer("One.", { data: { pieces: 1 } })).toEqualTypeOf<ToolAnswer<{ pieces: number }>>()
})

test("an answer is discriminated by its status, an event by its type", () => {
  expectTypeOf<Answer["status"]>().toEqualTypeOf<"answered" | "waiting" | "failed" | "cancelled">()
  expectTypeOf<Extract<Answer, { status: "waiting" }>["proposals"]>().toEqualTypeOf<readonly Proposal[]>()
  expectTypeOf<Extract<Answer, { status: "failed" }>["error"]["code"]>().toEqualTypeOf<string>()
  expectTypeOf<Extract<PawlEvent, { type: "text_delta" }>["data"]["text"]>().toEqualTypeOf<string>()
  expectTypeOf<ReturnType<Pawl["stream"]>>().toEqualTypeOf<AsyncGenerator<PawlEvent, Answer, undefined>>()
})

test("the answer of a stream has the type of its schema, and so have its parts", () => {
  const typed = (pawl: Pawl) =>
    pawl.stream("?", { answers: z.object({ unit: z.enum(["C", "F"]), days: z.array(z.int()) }) })
  type Value = { unit: "C" | "F"; days: number[] }
  expectTypeOf<ReturnType<typeof typed>>().toEqualTypeOf<
    AsyncGenerator<PawlEvent | PartialAnswer<Value>, Answer<Value>, undefined>
  >()
  expectTypeOf<PartialAnswer<Value>["data"]["value"]>().toEqualTypeOf<{
    readonly unit?: string
    readonly days?: readonly number[]
  }>()
})

test("results are read-only", () => {
  const change = (message: Message, proposal: Proposal, conversation: Conversation, event: PawlEvent) => {
    // @ts-expect-error: read-only
    message.content = ""
    // @ts-expect-error: read-only
    proposal.arguments.to = "bob"
    // @ts-expect-error: read-only
    conversation.mode = "auto"
    // @ts-expect-error: read-only
    event.id = ""
  }
  expect(change).toBeTypeOf("function")
})

test("models are either settings or models, and settings are known ones", () => {
  const refused = [
    // @ts-expect-error: unknown provider
    () => openPawl({ models: { opnai: { apiKey: "k" } } }),
    // @ts-expect-error: Ollama has an address
    () => openPawl({ models: { ollama: {} } }),
    // @ts-expect-error: one that changes nothing has no preview
    () => defineTool({ ...count, effect: "read", preview: () => ({ summary: "", action: "safe_create" }) }),
  ]
  expect(refused).toHaveLength(3)
})

test.each([
  ["a text is told as it is", () => "Forty.", "Forty.", undefined],
  ["a value is told as JSON, with the value beside it", () => ({ pieces: 40 }), '{"pieces":40}', { pieces: 40 }],
  ["an answer has words of its own", () => answer("Plenty.", { data: [40] }), "Plenty.", [40]],
  ["nothing is done", () => undefined, "Done.", undefined],
  ["a failure is an answer", () => failed("None left."), "None left.", undefined],
])("return values of a tool: %s", async (_what, run, text, data) => {
  const tool = defineTool<object, unknown>({ name: "t", description: "T.", input: z.object({}), effect: "read", run })
  const model = scripted(calls("t"), says("Done."))
  await using pawl = await openPawl({ store: ":memory:", models: model, agents: [{ name: "a", tools: [tool] }] })
  const { conversationId } = await pawl.ask("Go.")
  const { items } = await pawl.conversations.messages(conversationId)
  const told = items.find(({ role }) => role === "tool")
  expect(told).toMatchObject({ content: text, ...(data === undefined ? {} : { data }) })
  expect(told?.status).toBe(text === "None left." ? "error" : "ok")
})
