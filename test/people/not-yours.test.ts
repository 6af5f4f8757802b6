import { beforeAll, describe, expect, test } from "vitest"
import { calls, hangs, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { newId } from "../../core/protocol/ids.ts"
import type { Route } from "../../core/protocol/routes/route.ts"
import { routes } from "../../core/protocol/routes/index.ts"
import { scopes } from "../../core/protocol/account/sign-in.ts"
import { Browser, codeOf } from "../support/server/browser.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { sampleOf } from "../support/from-schema.ts"

const KINDS = [
  "conv",
  "run",
  "prop",
  "aud",
  "msg",
  "tok",
  "sess",
  "call",
  "user",
  "conn",
  "col",
  "doc",
  "psg",
  "res",
  "shr",
] as const
type Kind = (typeof KINDS)[number]
type Ids = Readonly<Record<Kind, string>>

/** The kinds of path parameters. A new one has to be added here. */
const NAMES: Readonly<Record<string, "id" | "word" | "own">> = {
  id: "id",
  messageId: "id",
  documentId: "id",
  itemId: "id",
  resultId: "id",
  questionId: "id",
  tool: "word",
  name: "word",
  table: "word",
  agent: "word",
  // Names that people choose: any value is valid.
  chat: "own",
}

const table = Object.entries<Route>(routes).map(([name, route]) => ({ name, ...route }))
const guarded = table.filter(({ needs }) => needs !== "nobody")
const withIds = guarded.filter(({ path }) => path.includes("{"))
const bodyOf = ({ body }: Route) => (body ? { body: sampleOf(body) } : {})
const missing = () => Object.fromEntries(KINDS.map((kind) => [kind, String(newId(kind))])) as unknown as Ids
/** Values that are no ids, and some that a database should never see. */
const ODD = ["conv_\0' OR 1=1", "x".repeat(300), "prop_é", "%", ".", "conv_%00", "__proto__"]

const model = () =>
  scripted(
    always(({ history }) => {
      const last = history.at(-1)
      if (last?.role === "user" && last.text === "wait") return hangs()
      return last?.role === "user" ? calls("create_task", { title: "Buy milk" }) : says("ok")
    }),
  )

describe.each(anyDatabase)("the data of another person on $name", ({ name: engine, create }) => {
  // Databases differ only in malformed values; the rest behaves the same and takes long.
  const onOne = test.runIf(anyDatabase.some(({ name }) => name === engine))
  let face: Face
  let callers: readonly (Visitor | Browser)[]
  let ofAda: Ids
  let ofBob: Ids
  let before: string[]
  let exported: () => Promise<string[]>

  /** One of everything that has an id: also a queued message, an applied write, and a grant. */
  async function everything(name: string): Promise<Ids> {
    const person = await face.as(name)
    const busy = await person.begin()
    const watching = await person.send("POST", `/api/conversations/${busy}/messages`, {
      body: { text: "wait" },
      headers: { accept: "text/event-stream" },
    })
    await watching.body?.cancel()
    const { queued } = (await person.say(busy, "later")).body
    const first = (await person.say(await person.begin(), "milk")).body.proposals[0]
    await person.post(`/api/agent/proposals/${first.id}/commit`, { always: true })
    const open = (await person.say(await person.begin(), "milk")).body
    await Browser.of(face, name)
    const target = { kind: "postgres", host: "8.8.8.8", database: "d", user: "u", password: "p" }
    const connection = await person.post("/api/connections", { name: "Main", ...target })
    const { id: col } = (await person.post("/api/collections", { name: "Papers" })).body
    const paper = { name: "a.txt", content: `Words of ${name}.` }
    const { items } = (await person.post(`/api/collections/${col}/documents`, paper)).body
    const found = (await person.post("/api/collections/search", { query: name })).body.items
    const user = (await person.get("/api/auth/me")).body.user.id
    const answer = { columns: [{ name: "a", type: null }], rows: [[1]], truncated: false }
    const asked = { connectionId: connection.body.id, conversationId: null, sql: "SELECT 1 AS a", answer }
    const result = await face.store.results.keep(user, asked)
    const own = async (path: string) => (await person.get(path)).body.items[0].id as string
    return {
      conv: busy,
      msg: queued.id,
      run: open.run.id,
      prop: open.proposals[0].id,
      call: open.proposals[0].callId,
      aud: await own("/api/agent/audit"),
      tok: await own("/api/tokens"),
      sess: await own("/api/auth/sessions"),
      user,
      conn: connection.body.id,
      col,
      doc: items[0].id,
      psg: found[0].id,
      res: result.id,
      shr: (await person.post(`/api/runs/${open.run.id}/shares`, {})).body.id,
    }
  }

  beforeAll(async () => {
    face = await Face.open({ url: (await create()).url, model: model() })
    ofAda = await everything("ada")
    ofBob = await everything("bob")
    const ada = await face.as("ada")
    exported = async () => (await ada.get("/api/export")).text.split("\n")
    before = await exported()
    callers = [await face.as("bob"), await Browser.of(face, "bob")]
    return async () => {
      await Promise.all([ofAda, ofBob].map(({ conv }) => face.pawl.runtime.submit(conv as never, CANCEL)))
      await face[Symbol.asyncDispose]()
    }
  })

  /** Each name of the path in turn belongs to another person; the names before it are bob's own. */
  function* addresses({ path }: Route, victims: Ids): Generator<[name: string, kind: Kind, address: string]> {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string)
    for (const [at, name] of names.entries()) {
      expect(NAMES, `a new kind of name in ${path}`).toHaveProperty(name)
      for (const kind of KINDS) {
        let turn = 0
        const fill = () => {
          const now = turn++
          if (now === at) return encodeURIComponent(victims[kind])
          return encodeURIComponent(now < at ? ofBob.conv : ofAda.msg)
        }
        yield [name, kind, path.replaceAll(/\{\w+\}/g, fill)]
      }
    }
  }

  onOne.each(withIds)("$method $path: it is a missing one, byte for byte", async (route) => {
    const { method, stream } = route
    const sent = bodyOf(route)
    const accepts = stream ? ["application/json", "text/event-stream"] : ["application/json"]
    const methods = method === "GET" ? ["GET", "HEAD"] : [method]
    for (const caller of callers) {
      for (const headers of accepts.map((accept) => ({ accept }))) {
        for (const asked of methods) {
          const pairs = [...addresses(route, ofAda)].map(([name, kind, address], index) => {
            const [, , other] = [...addresses(route, missing())][index]!
            return { name, kind, both: [address, other] as const }
          })
          for (const { name, kind, both } of pairs) {
            const [theirs, none] = await Promise.all(
              both.map((path) => look(caller, asked, path, { ...sent, headers })),
            )
            expect(theirs, `${caller.constructor.name} ${kind}`).toEqual(none)
            const isId = NAMES[name] === "id" || (NAMES[name] === "own" && kind === "conv")
            if (isId) expect(theirs).toMatchObject({ status: 404 })
          }
        }
      }
    }
  })

  const named = withIds.filter(({ path }) => !path.includes("{chat}"))
  test.each(named)("$method $path: a malformed id is missing too", async (route) => {
    const replies = await Promise.all(
      ODD.map((odd) => {
        const address = route.path.replaceAll(/\{(\w+)\}/g, encodeURIComponent(odd))
        return look(callers[0]!, route.method, address, bodyOf(route))
      }),
    )
    const type = route.errors === "openai" ? "application/json" : "application/problem+json"
    expect(replies[0]).toMatchObject({ status: 404, headers: { "content-type": type } })
    for (const reply of replies) expect(reply).toEqual(replies[0])
  })

  test("a proposal named in a body is missing too", async () => {
    const told = async (id: string) => {
      const body = { decision: "yes", proposalIds: [id] }
      const reply = await look(callers[0]!, "POST", `/api/conversations/${ofBob.conv}/decide`, { body })
      return JSON.parse(JSON.stringify(reply).replaceAll(id, "ID"))
    }
    expect(await told(ofAda.prop)).toEqual(await told(newId("prop")))
  })

  test("none of that has changed ada's data", async () => {
    expect(await exported()).toEqual(before)
  })

  onOne.each(guarded)("$method $path takes its scope and an identity", async (route) => {
    const { method, path, needs } = route
    const address = path.replaceAll(/\{(\w+)\}/g, ofAda.conv)
    const others = scopes.filter((other) => other !== needs)
    const without = await (await face.as("ada", ...others)).ask(method, address, bodyOf(route))
    expect(codeOf(without)).toEqual([403, "forbidden"])
    expect(without.text).toContain(needs)
    for (const token of [undefined, "pawl_wrong", "é"]) {
      const nobody = new Visitor((request) => face.fetch(request), token)
      const stranger = await nobody.ask(method, address, bodyOf(route))
      expect(codeOf(stranger)).toEqual([401, "unauthenticated"])
    }
  })
})

const CANCEL = { type: "cancel", by: "test" } as const
const UNTELLING = new Set(["x-request-id", "date", "set-cookie"])

/** All parts of an answer that could reveal something. */
async function look(caller: Visitor | Browser, method: string, path: string, sent: object) {
  const { status, text, headers } = await caller.ask(method, path, sent)
  const told = [...headers].filter(([name]) => !UNTELLING.has(name)).sort()
  return { status, text, headers: Object.fromEntries(told) }
}
