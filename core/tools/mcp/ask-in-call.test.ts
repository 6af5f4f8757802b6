import { expect, test } from "vitest"
import type { ToolQuestion, CallContext } from "../../engine/definition/tool.ts"
import { askInCall } from "./ask-in-call.ts"
import { toAnswer, toProgress } from "./result.ts"

const TOKEN = "token-that-ada-was-given"

async function askedWith(message: string): Promise<string | undefined> {
  const asked: ToolQuestion[] = []
  const ask = async (question: ToolQuestion) => (asked.push(question), { outcome: "decline" })
  const context = { conversation: "conv_1", lasting: { ask } } as unknown as CallContext
  const sent: string[] = []
  const call = askInCall({ server: "notes", tool: "book", secrets: () => sent }, context)
  sent.push(TOKEN) // renewed during the call
  await call.ask({ message, requestedSchema: { type: "object", properties: {} } })
  return asked[0]?.message
}

test("a server's question cannot show the token sent to it, also one that was renewed since", async () => {
  expect(await askedWith(`Is ${TOKEN} yours?`)).toBe("Is [hidden] yours?")
})

test("an address that contains the token is not shown", async () => {
  const asked: ToolQuestion[] = []
  const ask = async (question: ToolQuestion) => (asked.push(question), { outcome: "decline" })
  const context = { conversation: "conv_1", lasting: { ask } } as unknown as CallContext
  const call = askInCall({ server: "notes", tool: "book", secrets: () => [TOKEN] }, context)
  const address = (query: string) => ({ mode: "url", message: "Look.", url: `https://notes.example/?q=${query}` })
  const why = "The person was not asked: its address holds what the server was sent in confidence."
  expect(await call.ask(address(TOKEN))).toEqual({ unaskable: why })
  expect(call.unaskable).toEqual([why])
  await call.ask(address("tea"))
  expect(asked.map(({ url }) => url)).toEqual(["https://notes.example/?q=tea"])
})

const FILES = { keep: () => Promise.reject(new Error("nothing is kept here")) }
const CALL = { user: "user_a", conversation: "conv_1", callId: "call_1" } as unknown as CallContext
const answeredWith = async (block: object) => {
  const answering = { tool: "book", secrets: [TOKEN], call: CALL, files: FILES }
  return JSON.stringify(await toAnswer({ content: [block] }, answering))
}

test.each([
  ["a question", 2000, askedWith],
  ["progress", 500, async (message: string) => toProgress({ message }, [TOKEN]).text],
  ["a result", 200_000, (text: string) => answeredWith({ type: "text", text })],
  ["the name of a link", 200, (name: string) => answeredWith({ type: "resource_link", name, uri: "notes://a" })],
  ["the address of a file", 200, (uri: string) => answeredWith({ type: "resource", resource: { uri, text: "a" } })],
  ["what a part is", 200, (type: string) => answeredWith({ type })],
])("a secret cut at %s does not show its beginning", async (_what, most, shown) => {
  expect(await shown("x".repeat(most - 10) + TOKEN)).not.toContain(TOKEN.slice(0, 6))
})

test.each([
  ["as it is", TOKEN],
  ["in other signs", [...TOKEN].map((sign) => `%${sign.charCodeAt(0).toString(16)}`).join("")],
  ["over the place where it is cut", `${"x".repeat(2000 - "notes://a/".length - 10)}${TOKEN}`],
])("no file is named after a secret, %s", async (_, name) => {
  const named: string[] = []
  const keep = async (_call: unknown, file: { readonly name: string }) => {
    named.push(file.name)
    return { id: "file_1", name: file.name, type: "text/plain", size: 1 } as never
  }
  const blob = { type: "resource", resource: { uri: `notes://a/${name}`, blob: "YQ==" } }
  await toAnswer({ content: [blob] }, { tool: "book", secrets: [TOKEN], call: CALL, files: { keep } })
  expect(named).toHaveLength(1)
  expect(named[0]).not.toContain(TOKEN.slice(0, 6))
})
