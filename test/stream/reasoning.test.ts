import { expect, test } from "vitest"
import { anyDatabase } from "../support/databases.ts"
import { PacedModel } from "../support/loop/paced-model.ts"
import { Face } from "../support/server/face.ts"
import { isOver, readFrames, type SeenFrame } from "../support/server/stream.ts"

const SEALED = { openai: { reasoningEncryptedContent: "sealed-gAAAA" } }
const isThought = ({ type }: SeenFrame) => type === "reasoning_delta"
const textOf = (frames: readonly SeenFrame[], type: string) =>
  frames.flatMap((frame) => (frame.type === type ? [frame.data.text as string] : [])).join("")

const { create } = anyDatabase[0] ?? { create: () => Promise.reject(new Error("no database")) }

const open = async () => {
  const model = new PacedModel()
  const face = await Face.open({ url: (await create()).url, model })
  return { model, face, ada: await face.as("ada") }
}

test("reasoning is streamed while it arrives, moves no cursor, and is part of the message afterwards", async () => {
  const { model, face, ada } = await open()
  await using _ = face
  const id = await ada.begin({ agent: "test" })
  const events = (after?: string) =>
    ada.send("GET", `/api/conversations/${id}/events${after === undefined ? "" : `?after=${after}`}`, {
      headers: { accept: "text/event-stream" },
    })
  const sent = ada.send("POST", `/api/conversations/${id}/messages`, {
    body: { text: "Why?" },
    headers: { accept: "text/event-stream" },
  })
  model.think("").think("Let me ").think("see: 👋")
  const run = await sent
  const watched = readFrames(run, isOver)
  // A client that joins in the middle gets the reasoning from its beginning.
  const late = await readFrames(await events(), (seen) => textOf(seen, "reasoning_delta") === "Let me see: 👋")
  const place = late.filter((frame) => !isThought(frame)).at(-1)?.id ?? ""
  expect(late.filter(isThought).every((frame) => frame.id === place)).toBe(true)
  expect(late.findLast(isThought)?.data.offset).toBe("Let me see: 👋".length)

  model.thought("Let me see: 👋", SEALED).write("Because ")
  const cut = await readFrames(await events(place), (seen) => textOf(seen, "text_delta") === "Because ")
  const middle = cut.findLast(({ type }) => type === "text_delta")?.id ?? ""
  expect(middle).toBe(`${place}.8`)
  model.thought("", SEALED).think("More.").thought("More.").write("of it.").end()
  const seen = await watched
  expect(textOf(seen, "text_delta")).toBe("Because of it.")
  expect("Let me see: 👋\n\nMore.".startsWith(textOf(seen, "reasoning_delta"))).toBe(true)
  expect(JSON.stringify([...seen, ...late, ...cut])).not.toContain("sealed")

  // From the position where the text was cut exactly the rest of it follows.
  const rest = await readFrames(await events(middle), (frames) => frames.some(({ type }) => type === "run_ended"))
  expect(textOf(rest, "text_delta")).toBe("of it.")
  const whole = rest.find(({ type }) => type === "message")?.data.message
  expect(whole.reasoning).toEqual({ text: "Let me see: 👋\n\nMore.", ms: expect.any(Number) })
  const { body } = await ada.get(`/api/conversations/${id}`)
  expect(body.messages.at(-1).reasoning).toEqual(whole.reasoning)
  expect(JSON.stringify(body)).not.toContain("sealed")
})

test("a long reasoning is cut in lists, and whole in its own message", async () => {
  const { model, face, ada } = await open()
  await using _ = face
  const id = await ada.begin({ agent: "test" })
  const thought = "x".repeat(25_000)
  model.thought(thought).write("So.").end()
  await ada.post(`/api/conversations/${id}/messages`, { text: "Why?" })
  const { messages } = (await ada.get(`/api/conversations/${id}`)).body
  expect(messages.at(-1).reasoning).toEqual({ text: thought.slice(0, 20_000), truncated: true })
  const one = (await ada.get(`/api/conversations/${id}/messages/${messages.at(-1).id}`)).body
  expect(one.reasoning).toEqual({ text: thought })
})
