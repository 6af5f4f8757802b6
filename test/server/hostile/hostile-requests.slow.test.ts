import { afterAll, beforeAll, expect, test } from "vitest"
import { z } from "zod"
import { newId } from "../../../core/protocol/ids.ts"
import type { Route } from "../../../core/protocol/routes/route.ts"
import { routes } from "../../../core/protocol/routes/index.ts"
import { dataFolder } from "../../support/processes/pawl-process.ts"
import { tokenFor } from "../../support/processes/token-for.ts"
import { sampleOf } from "../../support/from-schema.ts"
import { isLong, seedOf } from "../../support/sizes.ts"
import { WatchedServer } from "../../support/processes/watched-server.ts"

/** No request delays `/healthz` by more than a second. */
const MAX_MS = 1000

/** Pieces that are slow for parsers, patterns and counters, repeated up to the limit of the field. */
const PIECES = ["[\r", "*_", "a ", "\n", "-1", "<b>", "ß"]
/**
 * How many pieces each route gets, chosen by the seed, so that each piece goes to one of seven routes. The long run
 * sends all pieces to all routes.
 */
const SOME = isLong ? PIECES.length : 1
const SEED = seedOf("PAWL_FUZZ_SEED")
const piecesFor = (name: string): readonly string[] => {
  const first = SEED + table.findIndex(([each]) => each === name)
  return PIECES.map((_, at) => PIECES[(first + at * 2) % PIECES.length]!)
}
/** A quarter of the maximal length also shows quadratic work. */
const LONGEST = isLong ? 900_000 : 225_000
const LONGEST_LIST = 5000

interface Shape {
  readonly type?: string
  readonly properties?: Readonly<Record<string, Shape>>
  readonly anyOf?: readonly Shape[]
  readonly items?: Shape
  readonly pattern?: string
  readonly format?: string
  readonly maxLength?: number
  readonly maxItems?: number
}

const shapeOf = (schema: z.ZodType) => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Shape

/** Returns the string or array among the alternatives of a field. */
const longOf = (shape: Shape): Shape => shape.anyOf?.find(({ type }) => type === "string" || type === "array") ?? shape

/**
 * Bodies that cannot be derived from a schema: the columns of rows depend on the table, and connections have several
 * kinds.
 */
const TOLD: Readonly<Record<string, (text: string) => unknown[]>> = {
  createRow: (text) => [{ title: text }, { title: "a", description: text }],
  changeRow: (text) => [{ title: text }],
  createConnection: (text) => [
    { kind: "sqlite", name: "a", path: text },
    { kind: "postgres", name: "a", host: text, database: text, user: text, password: text },
  ],
  tryConnection: (text) => [{ kind: "sqlite", name: text, path: "a.db" }],
  sendMcpMessage: (text) => [
    { jsonrpc: "2.0", id: 1, method: text },
    { jsonrpc: "2.0", id: text, method: "tools/call", params: { name: text, arguments: { [text]: text } } },
    {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "read_conversation", arguments: { conversation: text } },
    },
  ],
  answerQuestion: (text) => [
    { action: "accept", content: { [text]: "a", b: text.slice(0, 4000) } },
    { action: "accept", content: { a: Array.from({ length: 100 }, () => text.slice(0, 4000)) } },
  ],
  // The pattern must read every text that is not an address of this machine.
  beginMcpSignIn: (text) => [{ redirect: text }, { redirect: `http://127.0.0.1:${text}/callback` }],
  createOpenAiConversation: (text) => [
    { metadata: { title: text.slice(0, 200) } },
    { metadata: { [text]: text } },
    { items: Array.from({ length: 20 }, () => ({ role: "user", content: text.slice(0, 40_000) })) },
  ],
  changeOpenAiConversation: (text) => [{ metadata: { title: text.slice(0, 200) } }, { metadata: { [text]: text } }],
  createConversationItems: (text) => [{ items: [{ role: "user", content: text }] }],
  createEmbeddings: (text) => [{ model: text.slice(0, 400), input: [text] }],
  editProposal: (text) => [{ arguments: { text } }],
  addMcpServer: (text) => [
    { name: "a", url: "https://127.0.0.1:1/", headers: { "x-a": text } },
    { name: text, url: text },
  ],
}

/** Bodies that the schema accepts, each with one field of its maximal length. */
function bodiesOf(schema: z.ZodType, piece: string): unknown[] {
  const base = sampleOf(schema) as Record<string, unknown>
  const fields = Object.entries(shapeOf(schema).properties ?? {})
  return fields.flatMap(([name, given]) => {
    const shape = longOf(given)
    const body = { ...base, [name]: shape.type === "array" ? listOf(base[name], shape) : textOf(shape, piece) }
    return schema.safeParse(body).success ? [body] : []
  })
}

function textOf({ maxLength = LONGEST }: Shape, piece: string): string {
  const length = Math.min(maxLength, LONGEST)
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
}

const listOf = (sample: unknown, { maxItems = LONGEST_LIST }: Shape): unknown[] => {
  const [item] = Array.isArray(sample) ? sample : []
  return Array.from({ length: Math.min(maxItems, LONGEST_LIST) }, () => item)
}

/**
 * Left out: routes that would end what the others need, one that never answers, and the embedder, which works for a
 * long time but in another thread.
 */
const LEFT_OUT = new Set(["deleteMe", "deleteConversation", "signOut", "openSocket", "embedText"])
/** These accept a choice or a number, and no long text. */
const WITHOUT_WORDS = new Set(["forkConversation", "commitProposal", "resolveProposal", "shareRun", "stopUiStream"])
const table = Object.entries<Route>(routes).filter(
  ([name, { body, stream }]) => body && !LEFT_OUT.has(name) && stream !== "always",
)

let server: WatchedServer
let url: string
let token: string
let conversation: string

beforeAll(async () => {
  const settings = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_RATE_LIMIT: "0" }
  server = new WatchedServer(settings)
  url = await server.url()
  token = await tokenFor(settings)
  const made = await send("POST", "/api/conversations", {})
  conversation = ((await made.json()) as { id: string }).id
  await server.longestTurn() // the turn of its start
})
afterAll(() => server[Symbol.asyncDispose]())

const send = (method: string, path: string, body: unknown) =>
  fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  })

/**
 * Every route with a body, each field at its limit: code behind authentication, such as the model, must read it too.
 */
test.each(table)(
  `%s blocks no other request, whatever is sent (PAWL_FUZZ_SEED=${SEED})`,
  { timeout: 180_000 },
  async (name, route) => {
    const path = route.path
      .replace("{id}", route.path.includes("/conversations/{id}") ? conversation : newId("prop"))
      .replace("{table}", "tasks")
      .replaceAll(/\{\w+\}/g, "other")
    const statuses = new Set<number>()
    let pieces = 0 // that fit: a field with a pattern accepts few of them, and one of those must be sent, whatever the seed
    for (const piece of piecesFor(name)) {
      if (pieces >= SOME) break
      const told = TOLD[name]?.(textOf({}, piece)) ?? bodiesOf(route.body as z.ZodType, piece)
      if (told.length > 0) pieces += 1
      for (const body of told) {
        const response = await send(route.method, path, body)
        statuses.add(response.status)
        await response.body?.cancel()
      }
    }
    // Refusals are fine, faults are not, and the token must be valid.
    expect([...statuses].filter((status) => status >= 500 && status !== 503)).toEqual([])
    if (route.needs !== "nobody") expect(statuses).not.toContain(401)
    expect(statuses.size > 0 || WITHOUT_WORDS.has(name), "something was sent").toBe(true)
    expect(await server.longestTurn()).toBeLessThan(MAX_MS)
  },
)
