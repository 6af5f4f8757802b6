import fc from "fast-check"
import { expect, test } from "vitest"
import { RunChunks } from "../../../adapters/ai-sdk/run-chunks.ts"
import { RecordedChat } from "../../../adapters/ai-sdk/read-chat.ts"
import { reasoningFirst } from "../../../adapters/reasoning-first.ts"
import type { UnknownFrame } from "../../../core/protocol/frames.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import { Story } from "../../client/client-story.ts"
import { NodeChat, plain, type UiMessage } from "../ai-sdk-client.ts"

const dice = fc.array(fc.nat(10_000), { minLength: 20, maxLength: 200 })

/** Returns the message that the official client builds from chunks. */
async function heard(chunks: readonly object[]): Promise<UiMessage | undefined> {
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join("")
  const fetch = async () => new Response(text, { headers: { "content-type": "text/event-stream" } })
  const chat = new NodeChat({ transport: { fetch: fetch as typeof globalThis.fetch } })
  await chat.sendMessage({ text: "Whatever was said" })
  // Only the run's own failure may be an error, not a chunk that the client cannot place.
  const failed = (chunks as readonly { type: string; errorText?: string }[]).find(({ type }) => type === "error")
  expect(chat.error?.message).toBe(failed?.errorText)
  return chat.messages[1]
}

/** Returns the frames of each run as a late subscriber receives them: without pauses that are over. */
function runsOf(frames: readonly UnknownFrame[]): UnknownFrame[][] {
  const starts = frames.flatMap(({ type }, index) => (type === "run_started" ? [index] : []))
  return starts.map((start, index) => {
    const run = frames.slice(start, starts[index + 1])
    const isPause = ({ type, data }: UnknownFrame) =>
      type === "done" && (data as { status: string }).status === "paused"
    return run.filter((frame, at) => !isPause(frame) || run.slice(at + 1).every(({ type }) => type === "usage"))
  })
}

/** Adapts random stories: no model is asked while a tool call is open, and delegated calls belong to the client. */
function asTheLoop(dreamt: readonly UnknownFrame[]): UnknownFrame[] {
  const open = new Set<string>()
  const handed = new Set(dreamt.flatMap(({ type, data }) => (type === "handed_over" ? [callOf(data)] : [])))
  const frames = JSON.parse(JSON.stringify(dreamt), (_key, value) =>
    handed.has(callOf(value) ?? "") || handed.has(value?.id) ? { ...value, name: "client-look" } : value,
  ) as UnknownFrame[]
  return frames.filter(({ type, data }) => {
    const { message, callId = "" } = data as { message?: { toolCalls?: { id: string }[] | null }; callId?: string }
    if (type === "run_started") open.clear()
    for (const { id } of message?.toolCalls ?? []) open.add(id)
    if (type === "tool_end") open.delete(callId)
    return open.size === 0 || (type !== "reasoning_delta" && type !== "text_delta")
  })
}

/** Compares tool calls of the page by shape: they are emitted with the pause, even if the run has continued since. */
const shapeOf = (messages: readonly { id: string; parts: readonly object[] }[]) =>
  plain(messages).map(({ id, parts }) => ({
    id,
    parts: parts.map((part) =>
      "state" in part && part.state === "input-streaming"
        ? { ...part, state: "input-available", rawInput: undefined }
        : part,
    ),
  }))

const callOf = (value: unknown): string | undefined => (value as { callId?: string } | null)?.callId

test("for any conversation, the official client builds the same messages from the stream as a page receives after a reload", async () => {
  let [runs, parts] = [0, new Set<string>()]
  await fc.assert(
    fc.asyncProperty(dice, async (rolls) => {
      const { id, frames: dreamt } = new Story(rolls)
      const frames = asTheLoop(dreamt)
      const chat = new RecordedChat(id)
      chat.read(frames)
      const told = chat.toMessages().filter(({ role }) => role === "assistant")
      const streamed: UiMessage[] = []
      for (const run of runsOf(frames)) {
        if ((run[0]!.data as { compacts?: true }).compacts) continue
        const chunks = new RunChunks(id)
        const all = reasoningFirst(run).flatMap((frame) => chunks.read(frame))
        // The client stops at an error, though a write may end after it. The reloaded message includes that write.
        const isError = ({ type }: { type: string }) => type === "error"
        const message = await heard([...all.filter((chunk) => !isError(chunk)), ...all.filter(isError)])
        if (message) streamed.push(message)
        runs++
        for (const { type } of message?.parts ?? []) parts.add(type)
      }
      expect(shapeOf(told)).toEqual(shapeOf(streamed))
    }),
    { numRuns: 60 },
  )
  expect(runs).toBeGreaterThan(60)
  expect([...parts]).toEqual(expect.arrayContaining(["text", "step-start", "reasoning", "tool-tool", "tool-look"]))
})

const frame = (type: string, data: unknown): UnknownFrame => ({ id: "1", type, data })
const began = frame("run_started", { runId: "run_1" })
const said = (content: string, more: object = {}) =>
  frame("message", { message: { id: "msg_1", role: "user", content, toolCalls: null, ...more } })
const reply = (content: string, more: object = {}) => said(content, { role: "assistant", ...more })
const text = (value: string) => frame("text_delta", { text: value })
const thought = (value: string, offset: number) => frame("reasoning_delta", { text: value, offset, ms: 1 })
const done = frame("done", { status: "completed" })

async function partsOf(...frames: UnknownFrame[]) {
  const chunks = new RunChunks("conv_1" as ConversationId)
  const message = await heard(reasoningFirst([began, ...frames, done]).flatMap((each) => chunks.read(each)))
  return plain(message!.parts)
}

test("a reply that restarts is retracted, and the tool calls before it stay", async () => {
  const call = { id: "call_1", name: "look", input: {} }
  const parts = await partsOf(
    ...[text("Let me look."), reply("Let me look.", { toolCalls: [call] })],
    frame("tool_end", { callId: "call_1", name: "look", status: "ok", text: "5" }),
    ...[frame("restarted", {}), thought("Hm", 2), text("Fi"), frame("restarted", {}), text("Five."), reply("Five.")],
  )
  expect(parts.map(({ type, text: words, output }) => words ?? output ?? type)).toEqual([
    ...["step-start", "Let me look.", "5", "step-start", "Five."],
  ])
})

test("reasoning that arrives again, or with a gap, is emitted once, before the text", async () => {
  const whole = { reasoning: { text: "One two three." } }
  const words = ["One two three.", "Four."]
  const live = [thought("One ", 4), thought("One two ", 8), thought("three.", 14), text("Four."), reply("Four.", whole)]
  const gap = [thought("One ", 4), thought("three.", 14), reply("Four.", whole)]
  for (const frames of [live, [text("Four."), reply("Four.", whole)]]) {
    expect((await partsOf(...frames)).slice(1).map(({ text: told }) => told)).toEqual(words)
  }
  expect((await partsOf(...gap)).slice(1).map(({ text: told }) => told)).toEqual(words.slice(0, 1))
})

test("an answer's sources are emitted by address or title, with the places that cite them", async () => {
  const source = { id: "s1", title: "Wings", passage: "Lift.", url: "https://example.org/wings" }
  const sources = [source, { ...source, id: "s2", url: undefined }, { ...source, id: "s3", url: "javascript:alert(1)" }]
  const data = { kind: "citations", citations: [], sources, evidence: null }
  const [, , ...parts] = await partsOf(text("Lift [1]."), reply("Lift [1].", { data }))
  expect(parts).toMatchObject([
    { type: "source-url", sourceId: "s1", url: "https://example.org/wings", title: "Wings" },
    { type: "source-document", sourceId: "s2", mediaType: "text/plain" },
    { type: "source-document", sourceId: "s3" },
    { type: "data-citations", id: "msg_1" },
  ])
})

test("a steering message is part of the run's message; the message that started the run is not", async () => {
  const parts = await partsOf(
    said("How many?"),
    said("Of the red ones.", { id: "msg_2" }),
    text("Four."),
    reply("Four."),
  )
  expect(parts).toMatchObject([
    { type: "steering-message", id: "msg_2", parts: [{ type: "text", text: "Of the red ones." }] },
    ...[{ type: "step-start" }, { type: "text", text: "Four." }],
  ])
})
