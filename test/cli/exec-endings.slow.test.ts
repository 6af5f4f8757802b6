import { existsSync, readFileSync, writeFileSync } from "node:fs"
import type { ServerResponse } from "node:http"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"
import { isLong } from "../support/sizes.ts"

// Run concurrently, because they wait for providers that stall, disconnect or ask for time.
vi.setConfig({ testTimeout: 180_000 })

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

test.concurrent.each([
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
  {
    what: "nothing",
    deltas: [],
    finish: "stop",
    code: 6,
    says: "the model replied with no text",
    reason: "empty_reply",
  },
  {
    what: "only thinking",
    deltas: [{ reasoning_content: "Hm." }],
    finish: "stop",
    code: 6,
    says: "the model replied with no text",
    reason: "empty_reply",
  },
])("pawl exec reports an answer that ends with $what", async ({ what, deltas, finish, code, says, reason }) => {
  await using provider = await ProviderServer.open(reply(deltas, finish))
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: `${provider.url}` }
  const words = ["exec", "--agent", "workspace", "--model", "qwen/qwen3-8b", "hello"]
  // One runs as a process of its own; for the others, the start would take most of the time.
  const plain = await (what === "stop" ? pawl : command)(words, environment)
  expect([plain.code, plain.stdout]).toEqual([code, deltas.some((delta) => delta === text) ? "It begins\n" : ""])
  expect(plain.stderr).toMatch(says === "" ? /^$/ : new RegExp(`^pawl: .*${says}(.*[^.])?\\.$`, "m"))
  // The same reason again, which the long run reads as JSON too.
  if (what.includes(" ") && !isLong) return
  const json = await (what === "length" ? pawl : command)([...words, "--json"], environment)
  expect(json.code).toBe(code)
  expect(JSON.parse(json.stdout.trim().split("\n").at(-1) ?? "")).toEqual({
    type: "done",
    status: "completed",
    ...(reason ? { reason } : {}),
  })
})

test.concurrent("an answer above the length limit is cut, and the message names the setting that allows more", async () => {
  await using provider = await ProviderServer.open(
    reply(
      Array.from({ length: 50 }, () => ({ content: "x".repeat(100) })),
      "stop",
    ),
  )
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, PAWL_REPLY_CHARACTERS: "1000" }
  const { code, stdout, stderr } = await command(["exec", "--model", "qwen/qwen3-8b", "hello"], environment)
  expect([code, stdout]).toEqual([5, `${"x".repeat(1000)}\n`])
  expect(stderr).toContain("PAWL_REPLY_CHARACTERS")
})

interface Way {
  readonly more?: Record<string, string>
  /** In a process of its own, as in the long run all are. */
  readonly run?: typeof pawl
}

/** `pawl exec` against this provider, as text and as JSON. */
async function ask(
  answer: (response: ServerResponse, asked: AskedFor) => void,
  { more = {}, run = command }: Way = {},
) {
  await using provider = await ProviderServer.open((response) => {
    const { body } = provider.received.at(-1) as { readonly body: unknown }
    answer(response, { body: JSON.stringify(body), number: provider.received.length })
  })
  const environment = { PAWL_DATA: dataFolder(), LM_STUDIO_ENDPOINT: provider.url, ...more }
  const words = ["exec", "--agent", "workspace", "--model", "qwen/qwen3-8b", "hello"]
  const plain = await run(words, environment)
  const asked = provider.received.length
  const { stdout, code } = await command([...words, "--json"], environment)
  const lines = stdout.trim().split("\n")
  return { plain, asked, json: { code, events: lines.map((line) => JSON.parse(line) as Record<string, unknown>) } }
}

interface AskedFor {
  readonly body: string
  /** The number of the request, counted from 1. */
  readonly number: number
}

/** Some text, and then nothing more: the connection is cut, or stays open. */
const beginning = (response: ServerResponse, isCut: boolean) => {
  const choices = [{ index: 0, delta: text, finish_reason: null }]
  const chunk = { id: "1", object: "chat.completion.chunk", created: 1, model: "m", choices }
  response.writeHead(200, { "content-type": "text/event-stream" })
  response.write(`data: ${JSON.stringify(chunk)}\n\n`, () => isCut && setTimeout(() => response.destroy(), 20))
}

test.concurrent("an answer forced by the limit of tool calls says so, and counts as an answer", async () => {
  const call = { index: 0, id: "c1", type: "function", function: { name: "list_tasks", arguments: "{}" } }
  const { plain, json } = await ask((response, { body }) =>
    /"tool_choice":"none"/.test(body)
      ? reply([text], "stop")(response)
      : reply([{ tool_calls: [{ ...call, id: `c${body.length}` }] }], "tool_calls")(response),
  )
  expect([plain.code, plain.stdout]).toEqual([0, "It begins\n"])
  expect(plain.stderr).toMatch(/^pawl: .*reached its limit of tool calls\.$/m)
  expect(json.code).toBe(0)
  expect(json.events.at(-1)).toEqual({ type: "done", status: "completed", reason: "iteration_limit" })
})

test.concurrent("an answer without a finish reason is reported as possibly cut", async () => {
  const { plain, json } = await ask((response) => reply([text])(response))
  expect([plain.code, plain.stdout]).toEqual([5, "It begins\n"])
  expect(plain.stderr).toMatch(/^pawl: .*may be cut.*\.$/m)
  expect(json.code).toBe(5)
  expect(json.events.at(-1)).toEqual({ type: "done", status: "completed", reason: "unknown" })
})

test.concurrent("an answer that is interrupted again and again fails; the part that arrived stays printed", async () => {
  const { plain, json } = await ask((response) => beginning(response, true), { run: pawl })
  expect(plain.code).toBe(3)
  expect(plain.stdout).toContain("It begins")
  expect(plain.stderr).toContain("(the answer was interrupted and starts again)")
  expect(plain.stderr).toMatch(/^pawl: LM Studio: .+/m)
  expect(json.code).toBe(3)
  expect(json.events.at(-1)).toMatchObject({ type: "error", code: "provider_error" })
  const broken = json.events.filter(({ type }) => type === "message").at(-1)
  expect(broken).toMatchObject({ message: { finish: "broken", content: "It begins" } })
})

test.concurrent("an answer that stalls is requested again, like one that is interrupted", async () => {
  const stall = (response: ServerResponse, { number }: AskedFor) =>
    number % 2 === 1 ? beginning(response, false) : reply([{ content: "It ends" }], "stop")(response)
  const { plain, asked, json } = await ask(stall, { more: { PAWL_MODEL_IDLE_SECONDS: "3" }, run: pawl })
  expect([plain.code, asked]).toEqual([0, 2])
  expect(plain.stdout).toMatch(/It ends\n$/)
  expect(plain.stderr).toContain("(the answer was interrupted and starts again)")
  expect(json.events.find(({ type }) => type === "restarted")).toMatchObject({ detail: "model_silent" })
})

test.concurrent("waits for a provider that asks for a short pause, and not for one that asks for an hour", async () => {
  const busy =
    (seconds: string) =>
    (response: ServerResponse, { number }: AskedFor) =>
      number % 2 === 1 ? response.writeHead(429, { "retry-after": seconds }).end("{}") : reply([text], "stop")(response)
  const short = await ask(busy("1"))
  expect([short.plain.code, short.plain.stdout]).toEqual([0, "It begins\n"])
  expect(short.plain.stderr).toMatch(
    /has reached its rate limit: waiting 1 s before the next attempt\. Request 2 of 3 at \d\d:\d\d:\d\d/,
  )
  expect(short.json.events.find(({ step }) => step === "waiting")).toMatchObject({
    detail: { because: "rate_limited", seconds: 1, attempt: 2, attempts: 3, until: expect.stringMatching(/Z$/) },
  })
  const long = await ask((response) => response.writeHead(429, { "retry-after": "7200" }).end("{}"))
  expect([long.plain.code, long.asked]).toEqual([3, 1])
  expect(long.plain.stderr).toMatch(
    /has reached its rate limit. Try again in 120 min, after \d{4}-\d\d-\d\d \d\d:\d\d UTC\./,
  )
  expect(long.json.events.at(-1)).toMatchObject({ type: "error", code: "rate_limited" })
})

test.concurrent("pawl exec prints a long answer whole, also when it continues a conversation that has one", async () => {
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

test.concurrent.each([
  ["a folder that is not there", "nowhere/answer.txt", "the file or folder does not exist"],
  ["a folder", ".", "it is a folder, not a file"],
])("-o to %s is refused before any request", async (_, place, why) => {
  await using provider = await ProviderServer.open(reply([text], "stop"))
  const data = dataFolder()
  const environment = { PAWL_DATA: data, LM_STUDIO_ENDPOINT: `${provider.url}` }
  const asks = (file: string) => command(["exec", "--model", "qwen/qwen3-8b", "-o", file, "hello"], environment)
  const refused = await asks(join(data, place))
  expect([refused.code, refused.stdout]).toEqual([1, ""])
  expect(refused.stderr).toContain(why)
  expect(provider.received).toEqual([])
  expect(existsSync(join(data, "nowhere"))).toBe(false)
})

test.concurrent("the previous content of the file of -o stays until there is an answer", async () => {
  await using provider = await ProviderServer.open(reply([text], "stop"))
  const data = dataFolder()
  const [kept, made] = [join(data, "kept.txt"), join(data, "made.txt")]
  writeFileSync(kept, "A long answer of yesterday.\n")
  const environment = { PAWL_DATA: data, LM_STUDIO_ENDPOINT: `${provider.url}` }
  const words = (file: string) => ["exec", "--model", "qwen/qwen3-8b", "-o", file, "hello"]
  expect((await command(words(made), environment)).code).toBe(0)
  expect((await pawl(words(kept), environment)).code).toBe(0)
  expect([readFileSync(kept, "utf8"), readFileSync(made, "utf8")]).toEqual(["It begins\n", "It begins\n"])
  const wrong = await command(["exec", "--model", "nothing", "-o", join(data, "never.txt"), "hello"], environment)
  expect(wrong.code).not.toBe(0)
  expect(existsSync(join(data, "never.txt"))).toBe(false)
})

test.concurrent("pawl exec --schema prints only JSON that fits, and exits with 3 if none came", async () => {
  const says = ["Rome.", '{"city": 1}', 'It is {"city": "Rome"}', "no", "no", "no", '{"city": "Ro']
  await using provider = await ProviderServer.open((response) => {
    const content = says.shift()
    return reply([{ content }], content?.endsWith("Ro") ? "length" : "stop")(response)
  })
  const folder = dataFolder()
  const environment = { PAWL_DATA: folder, LM_STUDIO_ENDPOINT: provider.url }
  const file = join(folder, "schema.json")
  writeFileSync(file, JSON.stringify({ type: "object", properties: { city: { type: "string" } }, required: ["city"] }))
  const words = ["exec", "--model", "qwen/qwen3-8b", "--schema", file, "--set", "temperature=0.5", "where?"]
  const fitting = await command(words, environment)
  expect([fitting.code, fitting.stdout]).toEqual([0, '{"city":"Rome"}\n'])
  expect(provider.received.map(({ body }) => body.temperature)).toEqual([0.5, 0.5, 0.5])
  const unfit = await command(words, environment)
  expect([unfit.code, unfit.stdout]).toEqual([3, ""])
  expect(unfit.stderr).toContain("does not fit the requested format, even after 2 corrections")
  const cut = await command(words, environment)
  expect([cut.code, cut.stdout], "one that the output limit cut off fits nothing").toEqual([3, ""])
  for (const [text, problem] of [
    ["{", "is not valid JSON"],
    ["[]", "must be an object"],
    ['{"type": "objekt"}', '"type" must be one of array'],
  ] as const) {
    writeFileSync(file, text)
    const refused = await command(words, environment)
    expect([refused.code, refused.stdout, refused.stderr.includes(problem)]).toEqual([1, "", true])
  }
  expect(provider.received).toHaveLength(7)
})

test.concurrent("pawl exec --file sends files along, and nothing if one of them cannot be read", async () => {
  await using provider = await ProviderServer.open(reply([{ content: "Seen." }], "stop"))
  const folder = dataFolder()
  const environment = { PAWL_DATA: folder, LM_STUDIO_ENDPOINT: provider.url }
  const [one, two, archive] = [join(folder, "one.txt"), join(folder, "two.csv"), join(folder, "none.zip")]
  writeFileSync(one, "The first secret word is heron.")
  writeFileSync(two, "word\nplover\n")
  writeFileSync(archive, "PK\u0003\u0004 and so on")
  const exec = (...files: string[]) =>
    command(["exec", "--model", "qwen/qwen3-8b", ...files.flatMap((file) => ["--file", file]), "read"], environment)
  const seen = await exec(one, two)
  expect([seen.code, seen.stdout]).toEqual([0, "Seen.\n"])
  const told = JSON.stringify(provider.received[0]?.body.messages)
  for (const word of ["one.txt", "heron", "two.csv", "plover"]) expect(told).toContain(word)
  for (const [file, code] of [
    [join(folder, "missing.txt"), 1],
    [folder, 1],
    [archive, 3],
  ] as const) {
    const refused = await exec(one, file)
    expect([file, refused.code, refused.stdout]).toEqual([file, code, ""])
    expect(refused.stderr, "in one line").toMatch(/^pawl: .{10,}\n$/)
  }
  expect(provider.received).toHaveLength(1)
})
