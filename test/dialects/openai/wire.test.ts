import { beforeAll, describe, expect, test } from "vitest"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { says } from "../../../core/models/scripted/script.ts"
import { anyDatabase } from "../../support/databases.ts"
import { OpenAI, type OpenAiClient, refusalOf } from "../openai-client.ts"
import { Cutter } from "../../support/server/cutter.ts"
import { openServer } from "../../support/server/socket.ts"

const ANSWER = "Four of them, and a few more."
const LONG = "word ".repeat(200_000)
const ask = (content: string, more: object = {}) => ({
  model: "pawl/test",
  messages: [{ role: "user", content }],
  ...more,
})

describe.each(anyDatabase)("the openai package on the wire, on $name", (database) => {
  let server: Awaited<ReturnType<typeof openServer>>
  let cutter: Cutter
  let client: OpenAiClient
  const model = scripted(
    always(({ history }) => {
      const last = history.at(-1)
      return last?.role === "user" && last.text === "long" ? says(LONG, { chunks: 400 }) : says(ANSWER, { chunks: 5 })
    }),
  )

  beforeAll(async () => {
    server = await openServer({ database, model })
    cutter = await Cutter.open(server.url)
    const apiKey = await server.tokenFor("ada")
    client = new OpenAI({ apiKey, baseURL: `${cutter.url}/v1`, maxRetries: 0 })
    return async () => {
      await cutter[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    }
  })

  const textOf = async (body: object, key: string) => {
    const options = { headers: { "idempotency-key": key } }
    const answer = await client.chat.completions.create(body, options)
    if (!(Symbol.asyncIterator in answer)) return answer.choices[0].message.content
    let text = ""
    for await (const chunk of answer) text += chunk.choices[0]?.delta.content ?? ""
    return text
  }

  // `cuts.test.ts` cuts an answer at each position; this uses a real socket, with a few cuts in its head and body.
  test("an answer whose socket breaks is never taken for a complete one, and can be repeated", async () => {
    const before = model.received.length
    for (const [at, bytes] of [1, 300, 900, 1500].entries()) {
      cutter.cutAfter(bytes)
      const cut = await textOf(ask("How many?", { stream: true }), `cut-${at}`).catch(() => undefined)
      expect([undefined, ANSWER]).toContain(cut)
      cutter.cutAfter(Number.POSITIVE_INFINITY)
      expect(await textOf(ask("How many?", { stream: true }), `cut-${at}`)).toBe(ANSWER)
    }
    expect(cutter.cuts).toBeGreaterThan(2)
    expect(model.received.length - before).toBe(4)
  })

  test("a slow reader does not delay others, and still receives everything later", async () => {
    const slow = await client.chat.completions.create(ask("long", { stream: true }))
    expect(await textOf(ask("How many?"), "beside")).toBe(ANSWER)
    let length = 0
    for await (const chunk of slow) length += chunk.choices[0]?.delta.content?.length ?? 0
    expect(length).toBe(LONG.length)
  })

  test("oversized, deeply nested and malformed requests are refused in OpenAI's format", async () => {
    const large = await refusalOf(client.chat.completions.create(ask("x".repeat(2_000_000))))
    expect([large.status, large.code]).toEqual([400, "bad_request"])
    const image = (length: number) => ({
      type: "image_url",
      image_url: { url: `data:image/png;base64,${"A".repeat(length)}` },
    })
    const words = { type: "text", text: "What is it?" }
    const read = await refusalOf(client.chat.completions.create(ask([words, image(3_000_000)] as never)))
    expect(read.code).toBe("model_lacks_images") // its body was read
    const tooLarge = await refusalOf(client.chat.completions.create(ask([words, image(9_000_000)] as never)))
    expect([tooLarge.status, tooLarge.message]).toEqual([400, expect.stringMatching(/8388608 bytes/)])
    const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    for (const body of [`{"a":`.repeat(100), "[".repeat(10_000), "no json", "\ud800", "[]", "null", `"x"`]) {
      const refused = await fetch(`${server.url}/v1/responses`, { method: "POST", headers, body })
      expect([refused.status, ((await refused.json()) as { error: { type: string } }).error.type]).toEqual([
        ...[400, "invalid_request_error"],
      ])
    }
  })
})
