import pg from "pg"
import { describe, expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { Visitor } from "../support/server/face.ts"

const postgres = databases.find(({ name }) => name === "postgres") as (typeof databases)[number]

test("a server that is told to stop says draining for as long as it is told to, and serves meanwhile", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_DRAIN_SECONDS: "3" }
  const token = (await pawl(["token", "create", "--user", "ada"], environment)).stdout.trim()
  await using server = new PawlProcess(["serve"], environment)
  const [, url] = await server.says(/listening on (\S+)/)
  const ada = new Visitor(fetch, token, url)
  const from = performance.now()
  const ended = server.kill("SIGTERM")
  await expect.poll(async () => (await ada.get("/readyz")).body.code).toBe("draining")
  expect((await ada.get("/healthz")).status).toBe(200)
  // Also for whoever comes over a new connection, and begins something.
  const said = await ada.say(await ada.begin(), "list my tasks")
  expect(said.body.run.status).toBe("completed")
  expect((await ended).code).toBe(0)
  expect(performance.now() - from).toBeGreaterThan(2900)
})

describe.runIf(postgres)("on one PostgreSQL", () => {
  test("a server opens as many connections as it may, and no more", async () => {
    await using database = await postgres.create()
    const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: database.url, PAWL_PORT: "0" }
    const token = (await pawl(["token", "create", "--user", "ada"], environment)).stdout.trim()
    await using server = new PawlProcess(["serve"], { ...environment, PAWL_DATABASE_CONNECTIONS: "3" })
    const [, url] = await server.says(/listening on (\S+)/)
    const ada = new Visitor(fetch, token, url)
    await using client = Object.assign(new pg.Client({ connectionString: database.url }), {
      [Symbol.asyncDispose]: () => client.end(),
    })
    await client.connect()
    // Everything that is asked waits for this table, so that each takes a connection of its own.
    await client.query("BEGIN; LOCK TABLE token, conversation IN ACCESS EXCLUSIVE MODE")
    const asked = Array.from({ length: 12 }, () => ada.get("/api/conversations"))
    const others =
      "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND wait_event_type = 'Lock'"
    const waiting = async () => (await client.query<{ n: number }>(others)).rows[0]?.n
    await expect.poll(waiting).toBe(3)
    const all = others.replace(" AND wait_event_type = 'Lock'", "")
    expect((await client.query<{ n: number }>(all)).rows[0]?.n).toBe(3)
    await client.query("ROLLBACK")
    expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
  })
})
