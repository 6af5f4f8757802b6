import { expect, test } from "vitest"
import { createEmbedder, noEmbedder } from "./create.ts"
import { ProviderServer, type Received } from "../providers/server.fixture.ts"

const KEY = "sk-test-0123456789abcdef"
const signal = new AbortController().signal
const retry = { retries: 0 }

/** Answers as OpenAI does: each vector points where the length of its text says. */
const answer = ({ body }: Received) => ({
  object: "list",
  model: body.model,
  data: body.input.map((text: string, index: number) => ({
    object: "embedding",
    index,
    embedding: Array.from({ length: 1536 }, (_, i) => (i === text.length % 1536 ? 2 : 0)),
  })),
  usage: { prompt_tokens: 1, total_tokens: 1 },
})

const opened = (reply: (received: Received) => [status: number, body: unknown]) =>
  ProviderServer.open((response, received) => {
    const [status, body] = reply(received)
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
  })

test("with a key the embedder is OpenAI's, at the configured address; otherwise the local one", () => {
  expect(createEmbedder({ openaiApiKey: KEY })).toMatchObject({
    name: "openai/text-embedding-3-small",
    dimensions: 1536,
  })
  const local = () => noEmbedder
  expect(createEmbedder({}, { local })).toBe(noEmbedder)
  expect(createEmbedder({ openaiApiKey: " " }, { local })).toBe(noEmbedder)
  expect(createEmbedder({ openaiBaseUrl: "http://127.0.0.1:1/v1" }, { local })).toBe(noEmbedder)
  expect(createEmbedder({ openaiApiKey: KEY }, { sharedKeys: false, local })).toBe(noEmbedder)
  expect(createEmbedder({}), "without a local one there is none").toBeUndefined()
})

/** With a key it is never undefined. */
const create = (...of: Parameters<typeof createEmbedder>) => createEmbedder(...of) ?? noEmbedder

test("texts are sent together and returned as normalized vectors, in order", async () => {
  await using server = await opened((received) => [200, answer(received)])
  const embedder = create({ openaiApiKey: KEY, openaiBaseUrl: `${server.url}/proxy/v1` })
  const vectors = await embedder.embed(["abc", "", "de"], signal)
  expect(vectors.map((vector) => vector.indexOf(1))).toEqual([3, -1, 2])
  expect(server.received).toHaveLength(1)
  expect(server.received[0]).toMatchObject({
    path: "/proxy/v1/embeddings",
    headers: { authorization: `Bearer ${KEY}` },
    body: { model: "text-embedding-3-small", input: ["abc", "de"], encoding_format: "float" },
  })
})

test("a text longer than the model's limit is sent in parts, and many texts in several requests", async () => {
  await using server = await opened((received) => [200, answer(received)])
  const embedder = create({ openaiApiKey: KEY, openaiBaseUrl: server.url })
  const vectors = await embedder.embed(["word ".repeat(50_000), ...Array<string>(45).fill("x")], signal)
  expect(vectors).toHaveLength(46)
  expect(server.received.map(({ body }) => body.input.length)).toEqual([40, 14])
  expect(Math.max(...server.received[0]!.body.input.map((text: string) => text.length))).toBeLessThan(31_000)
})

test.each([
  [401, { error: { message: `Incorrect API key provided: ${KEY}`, code: "invalid_api_key" } }, "auth"],
  [429, { error: { message: "Slow down", code: "rate_limit_exceeded" } }, "rate_limited"],
  [500, { error: { message: `upset about ${KEY}` } }, "provider_error"],
  [404, { error: { message: "no such model" } }, "provider_error"],
  [200, { data: [{ index: 0, embedding: [1, 2, 3] }] }, "provider_error"],
  [200, { data: [] }, "provider_error"],
  [200, { nonsense: KEY }, "provider_error"],
])("an answer %i %j is a typed error without the key", async (status, body, code) => {
  await using server = await opened(() => [status, body])
  const embedder = create({ openaiApiKey: KEY, openaiBaseUrl: server.url }, { retry })
  const error = await embedder.embed(["x"], signal).catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code })
  expect(JSON.stringify([error, String(error), (error as Error).stack])).not.toContain(KEY)
})

test("a temporary failure is retried, and an aborted call ends", async () => {
  let asked = 0
  await using server = await opened((received) => (++asked === 1 ? [503, {}] : [200, answer(received)]))
  const settings = { openaiApiKey: KEY, openaiBaseUrl: server.url }
  const embedder = create(settings, { retry: { random: () => 0 } })
  expect((await embedder.embed(["abc"], signal))[0]!.indexOf(1)).toBe(3)
  await expect(embedder.embed(["x"], AbortSignal.abort(new Error("gone")))).rejects.toThrow("gone")
  expect(asked).toBe(2)
})

test("a provider that asks to wait for an hour is not retried, and the error says when to try again", async () => {
  await using server = await ProviderServer.open((response) => {
    response.writeHead(429, { "retry-after": "3600" }).end("{}")
  })
  const embedder = create({ openaiApiKey: KEY, openaiBaseUrl: server.url }, {})
  await expect(embedder.embed(["x"], new AbortController().signal)).rejects.toMatchObject({
    code: "rate_limited",
    message: expect.stringMatching(/Try again in 60 min, after .+ UTC/),
  })
  expect(server.received).toHaveLength(1)
})

test("a silent provider is given up", async () => {
  await using server = await ProviderServer.open(() => {})
  const settings = { openaiApiKey: KEY, openaiBaseUrl: server.url, idleSeconds: 0.05 }
  await expect(create(settings, { retry }).embed(["x"], signal)).rejects.toMatchObject({ code: "model_silent" })
})
