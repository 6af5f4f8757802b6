import { isIP } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { answer } from "../../../core/engine/definition/tool.ts"
import { calls, fails, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { errorCodes } from "../../../core/protocol/errors.ts"
import { type RouteName, routes } from "../../../core/protocol/routes/index.ts"
import type { Route } from "../../../core/protocol/routes/route.ts"
import { expectSound } from "../../support/loop/checked-world.ts"
import { databases } from "../../support/databases.ts"
import { seedOf, sizes } from "../../support/sizes.ts"
import { Face } from "../../support/server/face.ts"
import { read, write } from "../../support/loop/tools.ts"
import { World } from "../../support/loop/world.ts"
import { Crowd, type Outcome } from "./crowd.ts"
import { type Drawn, request, requestInGoodFaith } from "./requests.ts"

const AT_ONCE = 20
/** Valid requests, one after another, before a route counts as one that never succeeds. */
const PATIENCE = 2000
/**
 * Routes that random requests seldom use well: they need a write in doubt, a message at the moment when it waits, an
 * existing database, or a row that was just deleted. A socket never opens this way.
 */
const SELDOM_WELL: readonly RouteName[] = [
  ...(["resolveProposal", "editQueued", "withdrawQueued", "openSocket"] as const),
  // These need expired proposals and messages that a stop has held: this test has no clock to turn.
  ...(["proposeAgain", "seeProposal", "sendQueued"] as const),
  ...(["createConnection", "readConnection", "changeConnection", "removeConnection"] as const),
  ...(["testConnection", "tryConnection", "readSchema", "queryConnection", "uploadCsv", "restoreRows"] as const),
  ...(["sampleConnection", "readResult", "exportResult", "connectThread"] as const),
  // These need a request from a device, over its socket.
  ...(["allowDeviceRequest", "refuseDeviceRequest"] as const),
  // These need a file with bytes, and a configured endpoint.
  ...(["uploadFile", "readFile", "removeFile", "changeProvider"] as const),
  ...(["uploadOpenAiFile", "readOpenAiFile", "readOpenAiFileContent", "deleteOpenAiFile"] as const),
  // A name of a model that is an agent, or of an agent.
  ...(["createChatCompletion", "createResponse", "runAgUi", "connectAgUi"] as const),
  ...(["readOpenAiModel", "createEmbeddings", "countInputTokens", "compactResponse"] as const),
  // Always refused, and an item under its id.
  ...(["createConversationItems", "deleteConversationItem", "readConversationItem"] as const),
  // A run under the name that it has as a response.
  ...(["readResponse", "listInputItems", "cancelResponse", "deleteResponse"] as const),
  // A document together with the collection that it is in.
  ...(["readDocument", "readDocumentText", "removeDocument", "readPassage"] as const),
]

/** Every message leads to some outcome: text, reads, writes that wait, invalid calls, failures. */
const model = () =>
  scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role !== "user") return says("Done.")
      const replies = [
        calls("create_task", { title: "Buy milk" }),
        calls(["pay", { q: "a" }], ["look"]),
        calls("pay", { q: "a" }),
        calls(["pay"], ["pay", { q: "b" }]),
        calls("look"),
        calls(["list_tasks"], ["look"]),
        calls("pay", "no json"),
        says("Hello.", { chunks: 3 }),
        fails("provider_error", { after: "Well" }),
      ]
      return replies[last.text.length % replies.length]!
    }),
  )

/** Takes long enough for other requests to arrive meanwhile. */
const look = read("look", async () => {
  await sleep(20)
  return answer("Found.")
})

describe.each(databases)("on $name", ({ name, create }) => {
  const cases = name === "sqlite" ? sizes.fuzzCases : Math.ceil(sizes.fuzzCases / 10)

  test(`${cases} random requests: no 5xx, every answer matches its schema, and every conversation is intact`, async () => {
    await using database = await create()
    await using face = await Face.open({ url: database.url, model: model(), tools: [write("pay"), look] })
    const crowd = await Crowd.open(face)
    const met = new Map<RouteName, Set<number>>()
    /** The refusals: they explain why a route never succeeded. */
    const refused: string[] = []
    const sendAll = async (requests: readonly Drawn[]) => {
      for (const outcome of await Promise.all(requests.map((drawn) => crowd.send(drawn)))) {
        expectAgreed(outcome)
        const { drawn, status } = outcome
        if (status >= 400) refused.push(`${status} ${outcome.asked} ${outcome.text.slice(0, 200)}`)
        if (drawn.method === routes[drawn.name].method)
          met.set(drawn.name, (met.get(drawn.name) ?? new Set()).add(status))
      }
    }
    const property = fc.asyncProperty(
      fc.array(request, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (requests) => {
        await sendAll(requests)
        expect(face.logged.filter(({ event }) => event === "request_failed")).toEqual([])
      },
    )
    const numRuns = Math.ceil(cases / AT_ONCE)
    await fc.assert(property, { numRuns, endOnFailure: true, seed: seedOf("PAWL_FUZZ_SEED") })

    if (sizes.fuzzCases >= 5000) {
      // A run in which every request to a route was refused does not pass: valid requests fill the gaps.
      for (let left = PATIENCE; left > 0 && neverWell(met).length > 0; left--)
        await sendAll([requestInGoodFaith(neverWell(met), left)])
      expect(neverWell(met), refused.slice(-12).join("\n")).toEqual([])
    }

    await crowd.settle()
    const left = await face.store.engine.query("SELECT id FROM runs WHERE status = 'running'", [])
    expect(left, "nothing is left running").toEqual([])
    await expectSound(new World(face.pawl, face.store, { user: crowd.user, problems: face.logged }))
  }, 600_000)
})

const neverWell = (met: ReadonlyMap<RouteName, ReadonlySet<number>>): RouteName[] =>
  (Object.keys(routes) as RouteName[])
    .filter((name) => !SELDOM_WELL.includes(name))
    .filter((name) => ![...(met.get(name) ?? [])].some((status) => status < 400))

/** The schema of the refusal that the requested address declares, if it is not a problem document. */
function refusalOf({ name, method }: Drawn, status: number) {
  const { path } = routes[name]
  const asked = Object.values<Route>(routes).find((route) => route.path === path && route.method === method)
  return asked?.answers[status]
}

/**
 * Whether the random request names an MCP server by the number of a public address, such as `https://1234567890`. No
 * server answers there, so a 502 is right. An unknown name or a private address is a fault of the request.
 */
function isAway({ name, body }: Drawn, status: number, text: string): boolean {
  const { url } = (body ?? {}) as { url?: unknown }
  if (!name.includes("McpServer") || status !== 502 || typeof url !== "string" || !URL.canParse(url)) return false
  const { hostname } = new URL(url)
  return isIP(hostname.replace(/^\[(.*)\]$/, "$1")) !== 0 && JSON.parse(text).code === "mcp_server_failed"
}

function expectAgreed({ drawn, status, type, text, asked }: Outcome): void {
  if (!isAway(drawn, status, text))
    expect(status, `${asked} ${JSON.stringify(drawn)}\n${text.slice(0, 500)}`).toBeLessThan(500)
  if (status < 400 || drawn.method === "HEAD") return
  if (/^\w+ \/v1\//.test(asked)) return expect(errorCodes).toContain(JSON.parse(text).error.code)
  const spoken = refusalOf(drawn, status)
  // Only routes that declare it answer in the format of another protocol; a refusal before the route is a problem
  // document everywhere.
  if (spoken && type === "application/json")
    return expect(spoken.safeParse(JSON.parse(text)).error, `${asked} ${text}`).toBe(undefined)
  expect(type, asked).toBe("application/problem+json")
  const problem = JSON.parse(text)
  expect(problem, asked).toMatchObject({ status, type: `urn:pawl:error:${problem.code}` })
  expect(errorCodes).toContain(problem.code)
  expect(text.length, asked).toBeLessThan(20_000)
}
