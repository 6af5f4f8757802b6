import { describe, expect, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { newId } from "../../core/protocol/ids.ts"
import type { Route } from "../../core/protocol/routes/route.ts"
import { routes } from "../../core/protocol/routes/index.ts"
import { scopes } from "../../core/protocol/account/sign-in.ts"
import { openStore } from "../../core/store/store.ts"
import { type Away, AwayPostgres } from "../support/away-postgres.ts"
import { Browser, codeOf } from "../support/server/browser.ts"
import { databases } from "../support/databases.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { sampleOf } from "../support/from-schema.ts"

const postgres = databases.find(({ name }) => name === "postgres")
const model = () => scripted(always(says("Hello.")))
const table = Object.entries<Route>(routes).map(([name, route]) => ({ name, ...route }))

function addressOf({ path }: Route, id: string): string {
  return path
    .replace("{table}", "tasks")
    .replace("{id}", id)
    .replaceAll(/\{\w+\}/g, () => newId("msg"))
}

describe.runIf(postgres)("while PostgreSQL is away", () => {
  const create = () => (postgres as (typeof databases)[number]).create()

  async function open() {
    const database = await create()
    const wire = new AwayPostgres(database.url)
    return { database, wire, url: await wire.open() }
  }

  test.each<Away>(["refusing", "57P03", "53300"])(
    "(%s) every route answers 503 with Retry-After to every caller, and recovers when it is back",
    { timeout: 120_000 },
    async (away) => {
      const { database, wire, url } = await open()
      await using _database = database
      await using _wire = wire
      await using face = await Face.open({ url, model: model() })
      const ada = await face.as("ada", ...scopes)
      const id = await ada.begin()
      const browser = await Browser.of(face, "ada")
      // The caller whose session is already loaded: their request reaches the handler.
      await using near = await openStore({ url: database.url })
      const { people, sessions, credentials } = near
      await using known = await Face.open({ url, model: model(), instead: { people, sessions, credentials } })
      const { token } = await people.createToken(await people.ensure("ada", 1), [...scopes], Date.now())
      const asKnown = new Visitor((request) => known.fetch(request), token)
      await wire.leave(away)

      const odd: string[] = []
      let handled = 0
      for (const route of table) {
        const body = route.body ? { body: sampleOf(route.body) } : {}
        for (const caller of [ada, browser, asKnown]) {
          const reply = await caller.ask(route.method, addressOf(route, id), body)
          const { status, headers, text } = reply
          const named = status === 503 && codeOf(reply)[1] === "store_unavailable" && headers.has("retry-after")
          if (named && !text.includes("10.0.0") && !text.includes("ECONN")) handled += caller === asKnown ? 1 : 0
          // This caller also gets answers that need no store: that an id is malformed, or what is in memory.
          else if (status >= 500 || (caller !== asKnown && route.needs !== "nobody"))
            odd.push(`${route.name}: ${status} ${text.slice(0, 120)}`)
        }
      }
      expect(odd).toEqual([])
      expect(handled).toBeGreaterThan(table.length / 3)
      await wire.comeBack()
      await expect.poll(async () => (await ada.get("/readyz")).status).toBe(200)
      expect((await ada.say(id, "hello")).body.run.status).toBe("completed")
    },
  )

  test(
    "if it accepts connections and does not answer, readyz fails within seconds",
    {
      timeout: 120_000,
    },
    async () => {
      const { database, wire, url } = await open()
      await using _database = database
      await using _wire = wire
      await using face = await Face.open({ url, model: model() })
      const nobody = new Visitor((request) => face.fetch(request), undefined)
      expect((await nobody.get("/readyz")).body).toEqual({ status: "ready", bus: "none" })
      await wire.leave("silent")
      expect((await nobody.get("/readyz")).body).toMatchObject({ status: 503, code: "store_unavailable" })
      await wire.comeBack()
      await expect.poll(async () => (await nobody.get("/readyz")).status, { timeout: 60_000 }).toBe(200)
    },
  )

  // A standby that does not know our role yet, or a database that is being restored.
  test.each<Away>(["28P01", "3D000"])(
    "(%s) if it refuses all connections, reads and writes get store_unavailable too",
    async (away) => {
      const { database, wire, url } = await open()
      await using _database = database
      await using _wire = wire
      await using store = await openStore({ url })
      await wire.leave(away)
      await store.people.hasTokens().catch(() => {}) // finds the previous connection broken
      await expect(store.people.hasTokens()).rejects.toMatchObject({ code: "store_unavailable" })
      await expect(store.people.ensure("ada", 1)).rejects.toMatchObject({ code: "store_unavailable" })
      await wire.comeBack()
      await expect.poll(() => store.people.hasTokens().catch(() => "away")).toBe(false)
    },
  )

  test("if it has become a standby, its session is closed, and the next write goes to the new primary", async () => {
    await using database = await create()
    await using store = await openStore({ ...database, connections: 1 })
    // As after a failover behind one address: an old session only reads, and a new one may write.
    await store.engine.query("SET default_transaction_read_only = on", [])
    await expect(store.people.ensure("ada", 1)).rejects.toMatchObject({ code: "store_unavailable" })
    expect(await store.people.ensure("ada", 1)).toBeTruthy()
  })

  test("readyz reports a database that may lose commits on a power cut, under full durability only", async () => {
    await using database = await create()
    const name = new URL(database.url).pathname.slice(1)
    {
      await using store = await openStore(database)
      await store.engine.query(`ALTER DATABASE ${name} SET synchronous_commit = off`, [])
    }
    const warned = async (durability: "full" | "normal") => {
      await using store = await openStore({ ...database, durability })
      return (await store.readiness.check()).warnings
    }
    // The tests' own PostgreSQL may be weak in other ways too.
    expect(await warned("full")).toContainEqual(expect.stringContaining("synchronous_commit is off"))
    expect(await warned("normal")).toEqual([])
    await using store = await openStore(database)
    await using face = await Face.open({
      ...database,
      model: model(),
      instead: { ready: async () => ({ ...(await store.readiness.check()), bus: "none" }) },
    })
    const { status, body } = await new Visitor((request) => face.fetch(request), undefined).get("/readyz")
    expect([status, body.status]).toEqual([200, "ready"])
    expect(body.warnings).toContainEqual(expect.stringContaining("synchronous_commit is off"))
  })
})
