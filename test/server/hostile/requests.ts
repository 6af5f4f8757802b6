import fc from "fast-check"
import type { Route } from "../../../core/protocol/routes/route.ts"
import { type RouteName, routes } from "../../../core/protocol/routes/index.ts"
import { fitting } from "../../support/from-schema.ts"

/** One request as it was drawn. References to existing items are resolved when it is sent: `pick` chooses one. */
export interface Drawn {
  readonly name: RouteName
  readonly caller: number
  readonly method: string
  readonly picks: readonly number[]
  /** How many of ten fields that can name an existing item do so. */
  readonly known: number
  /** Query and body are sent as they are. */
  readonly isMeant?: boolean
  readonly query: unknown
  readonly body: unknown
  readonly spoil: Spoil | undefined
  readonly raw: string | Uint8Array | undefined
  readonly headers: Readonly<Record<string, string>>
}

interface Spoil {
  readonly at: number
  readonly key: string
  readonly value: unknown
}

const ODD_KEYS = ["__proto__", "constructor", "extra", "", "toString", "id", "\0"]
const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0, 1.5, 1e308, Number.MAX_SAFE_INTEGER, "", " ", "\0", "\ud800", [], {}),
  fc.constantFrom("x".repeat(3000), "💥".repeat(50), "../..", "' OR 1=1 --", "9".repeat(40), "conv_", "prop_0"),
  fc.jsonValue({ maxDepth: 3 }),
)

const header: fc.Arbitrary<Record<string, string>> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({}) },
  { weight: 2, arbitrary: fc.constant({ accept: "text/event-stream" }) },
  {
    weight: 1,
    arbitrary: fc.nat(5).map((key): Record<string, string> => ({ "idempotency-key": `key-${key}` })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("0", "1", "2.3", "x", "9".repeat(15), "").map((last) => ({ "last-event-id": last })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("text/plain", "application/xml", "x").map((type) => ({ "content-type": type })),
  },
)

/** The value in one of so many cases; otherwise undefined. */
const seldom = <T>(one: number, drawn: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 1, arbitrary: drawn }, { weight: one - 1, arbitrary: fc.constant(undefined) })

/** Routes that create items for the others to find are requested more often. */
const OFTEN: Partial<Record<RouteName, number>> = {
  createConversation: 2,
  sendMessage: 8,
  rejectProposal: 2,
  editProposal: 2,
  decideAll: 2,
  forkConversation: 2,
  editQueued: 3,
  withdrawQueued: 3,
  resumeRun: 2,
}
const table = (Object.entries(routes) as [RouteName, Route][]).flatMap((entry) =>
  Array<typeof entry>(OFTEN[entry[0]] ?? 1).fill(entry),
)

/** A request to one of the routes that fits its schemas, nearly fits, or does not. */
const requestTo = ([name, route]: readonly [RouteName, Route]): fc.Arbitrary<Drawn> =>
  fc.record({
    name: fc.constant(name),
    caller: fc.nat(9),
    method: fc.oneof(
      { weight: 19, arbitrary: fc.constant(route.method as string) },
      { weight: 1, arbitrary: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") },
    ),
    picks: fc.array(fc.nat(200), { minLength: 12, maxLength: 12 }),
    known: fc.constantFrom(0, 9, 10, 10),
    query: route.query ? fitting(route.query) : fc.constant({}),
    body: route.body ? fitting(route.body) : fc.constant(undefined),
    spoil: seldom(3, fc.record({ at: fc.nat(6), key: fc.constantFrom(...ODD_KEYS), value: odd })),
    raw: seldom(15, fc.oneof(fc.string({ maxLength: 30 }), fc.uint8Array({ maxLength: 30 }), fc.json({ maxDepth: 3 }))),
    headers: header,
  })

export const request: fc.Arbitrary<Drawn> = fc.constantFrom(...table).chain(requestTo)

/** Routes that create the items that other requests are about. */
const MAKERS: readonly RouteName[] = [
  "createConversation",
  "sendMessage",
  "commitProposal",
  "listAudit",
  "createCollection",
  "createRow",
  "saveProvider",
]

/** Bodies and queries that the table of routes does not describe: the columns of a table, an export file. */
const MEANT: Partial<Record<RouteName, Pick<Drawn, "query" | "body">>> = {
  // Creates a task: the model of these tests chooses by the length of the message.
  sendMessage: { query: {}, body: { text: "Milk, now" } },
  editProposal: { query: {}, body: { arguments: { title: "Buy bread" } } },
  listRows: { query: {}, body: undefined },
  addDocument: { query: {}, body: { name: "a.md", content: "# Wings\n\nLift." } },
  searchCollections: { query: {}, body: { query: "wings" } },
  createRow: { query: {}, body: { title: "Buy milk" } },
  saveProvider: { query: {}, body: { apiKey: "sk-0123456789abcdef" } },
  changeRow: { query: {}, body: { updates: { title: "Buy bread" } } },
  importWorkspace: {
    query: {},
    body: { version: 1, clients: [], projects: [], tasks: [], checkpoints: [], notes: [], taskComments: [] },
  },
}

/**
 * Every second conversation writes at once, so that there are writes to undo; in the others writes wait for approval.
 */
const conversationMeant = (number: number): Pick<Drawn, "query" | "body"> => ({
  query: {},
  body: { agent: "workspace", mode: number % 2 === 0 ? "auto" : "confirm" },
})

/** The caller with a session, and the routes that only it may use. */
const BROWSER = 5
const OF_SESSION: ReadonlySet<RouteName> = new Set(["signOut"])

/**
 * Returns a valid request of an authorised user to one of these routes or to a route that creates their items; a
 * different one for each number.
 */
export function requestInGoodFaith(names: readonly RouteName[], number: number): Drawn {
  const anyOfThem = fc.constantFrom(...names, ...MAKERS).chain((name) => requestTo([name, routes[name]]))
  // Neighbouring seeds draw similar values, so spread them.
  const [drawn] = fc.sample(anyOfThem, { numRuns: 1, seed: Math.imul(number, 0x9e3779b1) })
  const { method } = routes[drawn!.name]
  const meant = drawn!.name === "createConversation" ? conversationMeant(number) : MEANT[drawn!.name]
  return {
    ...drawn!,
    ...(meant ? { ...meant, isMeant: true } : {}),
    caller: OF_SESSION.has(drawn!.name) ? BROWSER : 0,
    known: 10,
    method,
    spoil: undefined,
    raw: undefined,
    headers: {},
  }
}

/** The value with one field left out, added or replaced. */
export function spoiled(value: unknown, spoil: Spoil | undefined): unknown {
  if (!spoil) return value
  if (typeof value !== "object" || value === null) return spoil.value
  const names = Object.keys(value)
  const name = names[spoil.at]
  const entries = Object.entries(value).filter(([key]) => spoil.value !== null || key !== name)
  const key = name ?? spoil.key
  if (name !== undefined && spoil.value === null) return Object.fromEntries(entries)
  return Object.fromEntries([...entries.filter(([other]) => other !== key), [key, spoil.value]])
}
