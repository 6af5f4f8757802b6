import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
} from "@ai-sdk/provider"
import { expect, test } from "vitest"
import { withCacheMarks } from "./cache-marks.ts"
import { ProviderModel } from "../provider-model.ts"
import { collect } from "../server.fixture.ts"

const say = (role: "user" | "assistant", text: string): LanguageModelV4Message => ({
  role,
  content: [{ type: "text", text }],
})
const POINT = { bedrock: { cachePoint: { type: "default" } } }
const SYSTEM: LanguageModelV4Message = { role: "system", content: "Be exact." }

const marksOf = (prompt: LanguageModelV4Prompt) =>
  withCacheMarks(prompt).flatMap(({ providerOptions }, at) => (providerOptions?.anthropic?.cacheControl ? [at] : []))

test("a prompt is marked after its instructions, at its end, and where the previous one ended", () => {
  const turns = [say("user", "1"), say("assistant", "a"), say("user", "2"), say("assistant", "b"), say("user", "3")]
  expect(marksOf([SYSTEM, ...turns.slice(0, 1)])).toEqual([0, 1])
  expect(marksOf([SYSTEM, ...turns.slice(0, 3)])).toEqual([0, 1, 3])
  expect(marksOf([SYSTEM, ...turns])).toEqual([0, 3, 5])
  expect(marksOf(turns.slice(0, 1))).toEqual([0])
})

test("each request is marked where the previous one ended, whatever is in between, with at most three marks", () => {
  const prompt: LanguageModelV4Prompt = [SYSTEM]
  let before: number | undefined
  for (let turn = 0; turn < 30; turn++) {
    prompt.push(say("user", `words ${turn}`), ...(turn % 3 === 0 ? [say("user", "and more")] : []))
    const marks = marksOf(prompt)
    expect(marks.length).toBeLessThanOrEqual(3)
    if (before !== undefined) expect(marks).toContain(before)
    before = prompt.length - 1
    prompt.push(say("assistant", `reply ${turn}`))
  }
})

test("Bedrock gets its own cache points, and neither provider gets one after reasoning, where it is rejected", () => {
  const thinking = (...more: readonly string[]): LanguageModelV4Message => ({
    role: "assistant",
    content: [...more.map((text) => ({ type: "text" as const, text })), { type: "reasoning", text: "Hm." }],
  })
  // Two replies in a row: the first ended in a thought, as an interrupted one may.
  const prompt = [SYSTEM, say("user", "1"), thinking("a"), say("assistant", "b"), say("user", "2")]
  expect(withCacheMarks(prompt, "converse").map(({ providerOptions }) => providerOptions)).toEqual([
    ...[POINT, undefined, undefined, undefined, POINT],
  ])
  expect(marksOf(prompt)).toEqual([0, 4])
  expect(marksOf([SYSTEM, say("user", "1"), say("assistant", "a"), say("assistant", "b")])).toEqual([0, 2, 3])
})

test("marks change nothing but themselves", () => {
  const prompt = [SYSTEM, say("user", "1")]
  const bare = withCacheMarks(prompt).map(({ providerOptions: _, ...message }) => message)
  expect(bare).toEqual(prompt)
})

test("a gateway that rejects marks is asked again without them, now and later", async () => {
  const asked: boolean[] = []
  const doStream = async ({ prompt }: LanguageModelV4CallOptions) => {
    const isMarked = JSON.stringify(prompt).includes("cacheControl")
    asked.push(isMarked)
    const message = "messages.0.content.0.text.cache_control: Extra inputs are not permitted"
    if (isMarked) throw Object.assign(new Error(message), { statusCode: 400 })
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
    const parts = [
      { type: "text-delta", id: "1", delta: "Hi" },
      { type: "finish", finishReason: { unified: "stop" }, usage },
    ]
    return { stream: ReadableStream.from(parts) }
  }
  const load = async () => ({ specificationVersion: "v4", doStream }) as unknown as LanguageModelV4
  const model = new ProviderModel({ name: "m", provider: "p", contextTokens: 1000, load, marksCache: true })
  for (let request = 0; request < 2; request++)
    expect((await collect(model)).map(({ type }) => type)).toEqual(["text", "finish"])
  expect(asked).toEqual([true, false, false])
})
