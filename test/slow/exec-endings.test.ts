import type { ServerResponse } from "node:http"
import { expect, test, vi } from "vitest"
import { ProviderServer } from "../../src/models/provider-server.fixture.ts"
import { dataFolder, pawl } from "../child.ts"

vi.setConfig({ testTimeout: 120_000 })

/** One reply of a server that speaks chat completions: these deltas, then why it ended, if it says so. */
const reply = (deltas: readonly object[], finish?: string) => (response: ServerResponse) => {
  const chunk = (delta: object, reason: string | null) => ({
    id: "1",
    object: "chat.completion.chunk",
    created: 1,
    model: "m",
    choices: [{ index: 0, delta, finish_reason: reason }],
  })
  const chunks = [...deltas.map((delta) => chunk(delta, null)), ...(finish ? [chunk({}, finish)] : [])]
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.end([...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), "data: [DONE]\n\n"].join(""))
}
const text = { content: "It begins" }

// issue 14, line 22
test.each([
  { what: "stop", deltas: [text], finish: "stop", code: 0, says: "", reason: undefined },
  { what: "content_filter", deltas: [], finish: "content_filter", code: 4, says: "refused", reason: "refused" },
  {
    what: "content_filter in it",
    deltas: [text],
    finish: "content_filter",
    code: 4,
    says: "refused",
    reason: "refused",
  },
  { what: "length", deltas: [text], finish: "length", code: 5, says: "reached its output limit", reason: "limit" },
  { what: "nothing", deltas: [], finish: "stop", code: 6, says: "answered nothing", reason: "empty_reply" },
  {
    what: "only thinking",
    deltas: [{ reasoning_content: "Hm." }],
    finish: "stop",
    code: 6,
    says: "answered nothing",
    reason: "empty_reply",
  },
])("pawl exec says what became of an answer that ends with $what", async ({ deltas, finish, code, says, reason }) => {
  await using provider = await ProviderServer.open(reply(deltas, finish))
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: `${provider.url}` }
  const words = ["exec", "--agent", "workspace", "--model", "qwen/qwen3-8b", "hello"]
  const plain = await pawl(words, environment)
  expect([plain.code, plain.stdout]).toEqual([code, deltas.some((delta) => delta === text) ? "It begins\n" : ""])
  expect(plain.stderr).toMatch(says === "" ? /^$/ : new RegExp(`^pawl: .*${says}.*\\.$`, "m"))
  const json = await pawl([...words, "--json"], environment)
  expect(json.code).toBe(code)
  expect(JSON.parse(json.stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    type: "done",
    status: "completed",
    ...(reason ? { reason } : {}),
  })
})

test("an answer that is longer than replies may be is cut, and says which setting allows more", async () => {
  await using provider = await ProviderServer.open(
    reply(
      Array.from({ length: 50 }, () => ({ content: "x".repeat(100) })),
      "stop",
    ),
  )
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_REPLY_CHARACTERS: "1000" }
  const { code, stdout, stderr } = await pawl(["exec", "--model", "qwen/qwen3-8b", "hello"], environment)
  expect([code, stdout]).toEqual([5, `${"x".repeat(1000)}\n`])
  expect(stderr).toContain("PAWL_REPLY_CHARACTERS")
})

test("pawl exec prints a long answer whole, also where it goes on with a conversation that has one", async () => {
  const long = `${"words and ".repeat(15_000)}THE END`
  await using provider = await ProviderServer.open(reply([{ content: long }], "stop"))
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: `${provider.url}` }
  const words = ["exec", "--model", "qwen/qwen3-8b"]
  for (const more of [["--agent", "workspace"], ["--continue"]]) {
    const { code, stdout, stderr } = await pawl([...words, ...more, "hello"], environment)
    expect({ code, length: stdout.length, isIt: stdout === `${long}\n`, stderr: stderr.slice(0, 300) }).toMatchObject({
      code: 0,
      length: long.length + 1,
      isIt: true,
    })
  }
})
