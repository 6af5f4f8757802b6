import { expect, test } from "vitest"
import type { CallContext } from "../agent/definition/tool.ts"
import type { AskedQuestion } from "../agent/definition/lasting.ts"
import { askInCall } from "./ask-in-call.ts"
import { toProgress } from "./progress.ts"
import { toAnswer } from "./result.ts"

const TOKEN = "token-that-ada-was-given"

async function askedWith(message: string): Promise<string | undefined> {
  const asked: AskedQuestion[] = []
  const ask = async (question: AskedQuestion) => (asked.push(question), { outcome: "decline" })
  const context = { conversation: "conv_1", lasting: { ask } } as unknown as CallContext
  const sent: string[] = []
  const call = askInCall({ server: "notes", tool: "book", secrets: () => sent }, context)
  sent.push(TOKEN) // renewed while the call was under way
  await call.ask({ message, requestedSchema: { type: "object", properties: {} } })
  return asked[0]?.message
}

test("a server that asks cannot show the token that it was sent, also one that was renewed since", async () => {
  expect(await askedWith(`Is ${TOKEN} yours?`)).toBe("Is [hidden] yours?")
})

const FILES = { keep: () => Promise.reject(new Error("nothing is kept here")) }
const CALL = { user: "user_a", conversation: "conv_1", callId: "call_1" } as unknown as CallContext
const answered = async (words: string) => {
  const answering = { tool: "book", secrets: [TOKEN], call: CALL, files: FILES }
  return JSON.stringify(await toAnswer({ content: [{ type: "text", text: words }] }, answering))
}

test.each([
  ["a question", 2000, askedWith],
  ["progress", 500, async (message: string) => toProgress({ message }, [TOKEN]).text],
  ["a result", 200_000, answered],
])("a secret over the place where %s is cut shows no beginning of it", async (_what, most, shown) => {
  expect(await shown("x".repeat(most - 10) + TOKEN)).not.toContain(TOKEN.slice(0, 6))
})
