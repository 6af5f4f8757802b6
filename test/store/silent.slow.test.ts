import { setTimeout as pause } from "node:timers/promises"
import { describe, test } from "vitest"
import { says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { openStore } from "../../core/store/store.ts"
import { AwayPostgres } from "../support/away-postgres.ts"
import { databases } from "../support/databases.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Face, Visitor } from "../support/server/face.ts"
import { slownessOf } from "../support/worked.ts"

const postgres = databases.find(({ name }) => name === "postgres") as (typeof databases)[number]
const model = () => scripted(always(says("Hello.")))
/** A fifth of the default: it changes only how long the tests take. */
const waits = { connect: 2000, silence: 2000 }
/**
 * Requests are answered within this: a tolerated silence, an attempt to connect, and a busy machine. In sequence,
 * concurrent requests would take twice as long.
 */
const BORNE_MS = waits.silence + waits.connect + 16_000

async function silentOne() {
  const database = await postgres.create()
  const wire = new AwayPostgres(database.url)
  const url = await wire.open()
  return {
    ...{ database, wire, url },
    async [Symbol.asyncDispose]() {
      await wire[Symbol.asyncDispose]()
      await database[Symbol.asyncDispose]()
    },
  }
}

describe.runIf(postgres)("a PostgreSQL that stops answering and closes no connection", { timeout: 180_000 }, () => {
  test.concurrent("answers 503 store_unavailable to every request, and recovers once new connections are answered", async ({
    expect,
  }) => {
    await using place = await silentOne()
    await using store = await openStore({ url: place.url, waits })
    await using face = await Face.open({ url: place.url, store, model: model() })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await ada.say(id, "one")
    place.wire.fallSilent()
    const from = performance.now()
    const asked = await Promise.all([
      ...[0, 1, 2, 3].flatMap(() => [ada.get(`/api/conversations/${id}`), ada.get("/api/conversations")]),
      ada.say(id, "two"),
      ada.post("/api/conversations", {}),
    ])
    expect(asked.map(({ status, body }) => `${status} ${body.code}`)).toEqual(asked.map(() => "503 store_unavailable"))
    expect(performance.now() - from).toBeLessThan(BORNE_MS * slownessOf())
    expect((await ada.get("/healthz")).status).toBe(200)
    place.wire.answerNewOnes()
    await expect.poll(async () => (await ada.get("/readyz")).status).toBe(200)
    expect((await ada.say(id, "three")).body.run.status).toBe("completed")
  })

  test.concurrent("applies a write once if its answer was lost, and the run continues by itself", async ({
    expect,
  }) => {
    await using place = await silentOne()
    await using store = await openStore({ url: place.url, waits })
    await using face = await Face.open({ url: place.url, store, model: model() })
    const ada = await face.as("ada")
    const id = await ada.begin()
    await ada.say(id, "one")
    place.wire.loseAnswerTo("words that arrive")
    const path = `/api/conversations/${id}/messages`
    const say = () => ada.post(path, { text: "words that arrive" }, { "idempotency-key": "once" })
    const said = await say()
    expect([said.status, said.body.code]).toEqual([503, "store_unavailable"])
    place.wire.answerNewOnes()
    await expect.poll(async () => (await ada.get("/readyz")).status).toBe(200)
    const told = async () => (await ada.get(path)).body.items.map(({ content }: { content: string }) => content)
    const all = ["one", "Hello.", "words that arrive", "Hello."]
    await expect.poll(told, { timeout: 60_000 }).toEqual(all)
    // A client that retries after a 503 gets the run that exists.
    expect((await say()).body.run.status).toBe("completed")
    expect(await told()).toEqual(all)
  })

  test.concurrent("does not time out while rows arrive, and does otherwise", async ({ expect }) => {
    await using database = await postgres.create()
    await using store = await openStore({ url: database.url, waits })
    const slow = { type: "statements", statements: [{ sql: "SELECT pg_sleep(3)", values: [] }] } as const
    const refused = store.engine.change(slow).then(
      () => "done",
      (error: { code: string }) => error.code,
    )
    const done = store.engine.change({ ...slow, patience: "long" }).then(({ ok }) => ok)
    expect(await Promise.all([refused, done])).toEqual(["store_unavailable", true])
    // Rows that keep arriving are no silence, however long they take.
    const rows = await store.engine.query("SELECT pg_sleep(0.5), repeat('x', 100000) FROM generate_series(1, 6)", [])
    expect(rows).toHaveLength(6)
  })

  test.concurrent("releases the rows that an interrupted change holds", async ({ expect }) => {
    await using place = await silentOne()
    await using far = await openStore({ url: place.url, waits })
    await using near = await openStore({ url: place.database.url })
    await near.people.ensure("ada", 1)
    const touch = { sql: "UPDATE person SET name = name WHERE name = 'ada'", values: [], mustChange: true }
    const held = far.engine.change({
      type: "statements",
      statements: [touch, { sql: "SELECT pg_sleep(1)", values: [] }, touch],
    })
    held.catch(() => {})
    await expect
      .poll(async () =>
        near.engine.query(
          "SELECT 1 FROM pg_stat_activity WHERE query LIKE '%pg_sleep(1)%' AND pid <> pg_backend_pid() AND state = 'active'",
          [],
        ),
      )
      .toHaveLength(1)
    place.wire.fallSilent()
    await expect(held).rejects.toMatchObject({ code: "store_unavailable" })
    await expect
      .poll(
        () =>
          near.engine.change({ type: "statements", statements: [touch] }).then(
            ({ ok }) => ok,
            () => false,
          ),
        { timeout: 60_000 },
      )
      .toBe(true)
  })

  test.concurrent.for(["idle", "asked"] as const)(
    "does not prevent a server (%s) from shutting down",
    async (how, { expect }) => {
      await using place = await silentOne()
      const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: place.url, PAWL_PORT: "0" }
      const token = await tokenFor(environment)
      await using server = new PawlProcess(["serve"], environment)
      const [, url] = await server.says(/listening on (\S+)/)
      const ada = new Visitor(fetch, token, url)
      const id = await ada.begin()
      await ada.say(id, "list my tasks")
      place.wire.fallSilent()
      if (how === "asked") {
        // More than there are connections: some wait at the database, some for one that is free.
        for (let n = 0; n < 30; n++) void ada.get(`/api/conversations/${id}`).catch(() => {})
        await pause(1000)
      }
      expect((await fetch(`${url}/healthz`)).status).toBe(200)
      const from = performance.now()
      const { code } = await server.kill("SIGTERM")
      expect(code).toBe(0)
      expect(performance.now() - from).toBeLessThan(9000 * slownessOf())
    },
  )
})
