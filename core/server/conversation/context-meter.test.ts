import { expect, test } from "vitest"
import type { Message } from "../../protocol/conversation/message.ts"
import { newId, type ConversationId, type UserId } from "../../protocol/ids.ts"
import { readMeter } from "./context-meter.ts"

const user = newId("user") as UserId
const id = newId("conv") as ConversationId

const say = (role: "user" | "assistant", content: string, tokens?: [number, number]): Message => ({
  id: newId("msg") as Message["id"],
  ...{ seq: 1, role, content, toolCalls: null, toolCallId: null, createdAt: "2026-01-01T00:00:00.000Z" },
  ...(tokens ? { usage: { inputTokens: tokens[0], outputTokens: tokens[1], cost: null } } : {}),
})

/** For a conversation that is too long to be replayed whenever it is opened. */
const meterOf = (newest: readonly Message[]) => {
  const journal = { load: () => Promise.reject(new Error("all of it was read")) }
  const models = { list: async () => [{ name: "small", contextTokens: 8000 }] }
  const conversations = { cost: async () => 0.5 }
  return readMeter({ journal, models, conversations } as never, user, { id, model: "small", position: 5000, newest })
}

test("a long conversation counts as the provider's count for the last reply plus later messages", async () => {
  const newest = [say("user", "Hello"), say("assistant", "Hi", [700, 20]), say("user", "x".repeat(400))]
  expect(await meterOf(newest)).toEqual({ usedTokens: 820, estimated: false, limitTokens: 8000, costUsd: 0.5 })
})

test("without a provider's count, its newest messages are estimated", async () => {
  expect(await meterOf([say("user", "x".repeat(400)), say("assistant", "y".repeat(40))])).toMatchObject({
    usedTokens: 110,
    estimated: true,
  })
})
