import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import pg from "pg"
import { describe, expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { shiftedClock } from "../cluster/live-node.ts"
import { hasNats, NatsServer } from "../support/processes/nats-server.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"

const postgres = databases.find(({ name }) => name === "postgres") as (typeof databases)[number]

test("a server that is asked to stop reports draining for the configured time, and continues to serve", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_DRAIN_SECONDS: "3" }
  const token = await tokenFor(environment)
  await using server = new PawlProcess(["serve"], environment)
  const [, url] = await server.says(/listening on (\S+)/)
  const ada = new Visitor(fetch, token, url)
  const from = performance.now()
  const ended = server.kill("SIGTERM")
  await expect.poll(async () => (await ada.get("/readyz")).body.code).toBe("draining")
  expect((await ada.get("/healthz")).status).toBe(200)
  // Also for a client that opens a new connection and starts a conversation.
  const said = await ada.say(await ada.begin(), "list my tasks")
  expect(said.body.run.status).toBe("completed")
  expect((await ended).code).toBe(0)
  expect(performance.now() - from).toBeGreaterThan(2900)
})

describe.runIf(postgres)("on one PostgreSQL", () => {
  test("serve does not start with a NATS on another machine and no credentials, and doctor reports it", async () => {
    await using database = await postgres.create()
    const NATS_URL = "nats://nats.example:4222"
    const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: database.url, PAWL_PORT: "0", NATS_URL }
    const says = /NATS at nats\.example:4222 is on another machine, but the settings have no credentials for it/
    const [served, examined] = [await pawl(["serve"], environment), await pawl(["doctor"], environment)]
    expect([served.code, served.stderr]).toEqual([1, expect.stringMatching(says)])
    expect([examined.code, examined.stdout]).toEqual([
      1,
      expect.stringMatching(new RegExp(`^wrong ${says.source}`, "m")),
    ])
  })

  test("a server opens as many connections as configured, and no more", async () => {
    await using database = await postgres.create()
    const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: database.url, PAWL_PORT: "0" }
    const token = await tokenFor(environment)
    await using server = new PawlProcess(["serve"], { ...environment, PAWL_DATABASE_CONNECTIONS: "3" })
    const [, url] = await server.says(/listening on (\S+)/)
    const ada = new Visitor(fetch, token, url)
    await using client = Object.assign(new pg.Client({ connectionString: database.url }), {
      [Symbol.asyncDispose]: () => client.end(),
    })
    await client.connect()
    // All queries wait for this table, so that each takes a connection of its own.
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
  test("doctor lists the nodes, reports how far clocks are apart, and detects another master key", async () => {
    await using database = await postgres.create()
    const node = () => ({
      PAWL_DATA: dataFolder(),
      DATABASE_URL: database.url,
      PAWL_PORT: "0",
      PAWL_DURABILITY: "normal",
    })
    const first = node()
    const alone = await command(["doctor"], first)
    expect(alone.stdout).toMatch(/^note +nodes: no server is running/m)
    await using server = new PawlProcess(["serve"], first)
    await server.says(/listening on/)
    const beside = await pawl(["doctor"], first)
    expect([
      beside.code,
      beside.stdout.match(/^ok +node node_\w+: running since \d{4}-.*Z, last heartbeat [\d.]+ s ago, 0 leases$/gm),
    ]).toEqual([0, [expect.any(String)]])
    expect(beside.stdout).toMatch(/^ok +clocks: this machine is 0\.\d+ s (ahead of|behind) the database$/m)
    expect(beside.stdout).toMatch(/^ok +master key/m)
    expect(beside.stdout).toMatch(/^ok +node messages: off, because NATS_URL is not set/m)
    await using client = Object.assign(new pg.Client({ connectionString: database.url }), {
      [Symbol.asyncDispose]: () => client.end(),
    })
    await client.connect()
    await server.kill("SIGTERM") // it would take the next one for dead
    // A node whose last heartbeat is a minute old, that writes one conversation, and whose clock is ten seconds behind.
    await command(["token", "create", "--user", "ada"], first)
    const now = "(extract(epoch FROM now()) * 1000)::bigint"
    await client.query(`INSERT INTO node (id, locked, since, beats, signed_at, own_time)
      VALUES ('node_gone', 0, 0, 1, ${now} - 60000, ${now} - 70000)`)
    await client.query(`INSERT INTO conversation (id, person, agent, mode, status, owner, fence, created_at, updated_at)
      SELECT 'conv_left', key, 'workspace', 'confirm', 'idle', 'node_gone', 1, 0, 0 FROM person LIMIT 1`)
    const { stdout } = await command(["doctor"], first)
    expect(stdout).toMatch(/^note +node node_gone: .* last heartbeat 6\d\.\d s ago, 1 lease; its heartbeat is late/m)
    expect(stdout).toMatch(/^note +node node_gone: its clock is 10\.\d s behind the database$/m)
    const stranger = await command(["doctor"], node())
    expect([stranger.code, stranger.stdout]).toEqual([
      1,
      expect.stringMatching(/^wrong .*master key differs from the one of the database/m),
    ])
  })
  test("doctor reports wrong clocks, of this machine and of another node, though nodes use the database's", async () => {
    await using database = await postgres.create()
    const PAWL_DATA = dataFolder()
    const SHIFTED_CLOCK = join(PAWL_DATA, "shifted-clock")
    writeFileSync(SHIFTED_CLOCK, String(-3_600_000))
    const right = { PAWL_DATA, DATABASE_URL: database.url, PAWL_PORT: "0", PAWL_DURABILITY: "normal" }
    const wrong = { ...right, SHIFTED_CLOCK, NODE_OPTIONS: `--import=${pathToFileURL(shiftedClock)}` }
    await using server = new PawlProcess(["serve"], wrong)
    await server.says(/listening on/)
    const there = await pawl(["doctor"], wrong)
    expect(there.stdout).toMatch(
      /^note +clocks: this machine is (3599\.9|3600\.\d) s behind the database; synchronize both/m,
    )
    const here = await command(["doctor"], right)
    expect(here.stdout).toMatch(/^ok +clocks: this machine is 0\.\d+ s (ahead of|behind) the database$/m)
    expect(here.stdout).toMatch(/^note +node node_\w+: its clock is (3599\.\d|3600\.\d) s behind the database$/m)
  })
  test.runIf(hasNats)(
    "doctor reports whether nodes reach each other, how long a message takes, and which node is unreachable",
    async () => {
      await using database = await postgres.create()
      await using nats = await NatsServer.start()
      const node = (more: Record<string, string> = {}) => ({
        ...{ PAWL_DATA: dataFolder(), DATABASE_URL: database.url, PAWL_PORT: "0", NATS_URL: nats.url },
        ...{ MASTER_ENCRYPTION_KEY: "c".repeat(64), PAWL_DURABILITY: "normal", ...more },
      })
      const busIn = ({ stdout }: { stdout: string }) => stdout.match(/^.*\bmessages\b.*$/gm) ?? []
      expect(busIn(await command(["doctor"], node()))).toEqual([
        expect.stringMatching(/^ok +node messages: NATS answers in [\d.]+ ms$/),
      ])
      await using server = new PawlProcess(["serve"], node())
      await server.says(/listening on/)
      const heard = expect.stringMatching(
        /^ok +node messages: NATS answers in [\d.]+ ms, the slowest of 1 node in [\d.]+ ms$/,
      )
      expect(busIn(await pawl(["doctor"], node()))).toEqual([heard])
      await using stranger = new PawlProcess(["serve"], node({ PAWL_CLUSTER: "another" }))
      await stranger.says(/listening on/)
      expect(busIn(await command(["doctor"], node()))).toEqual([
        heard,
        expect.stringMatching(/^note +node node_\w+: its messages do not arrive; .*PAWL_CLUSTER/),
      ])
      await nats.kill()
      const away = await command(["doctor"], node())
      expect([away.code, busIn(away)]).toEqual([
        0,
        [expect.stringMatching(/^note +node messages: NATS \(NATS_URL\) does not answer/)],
      ])
    },
  )
  test("a node with another master key does not start and says what to do; one with the same does, also during a key rotation", async () => {
    await using database = await postgres.create()
    const node = (more: Record<string, string> = {}) => ({
      ...{ PAWL_DATA: dataFolder(), DATABASE_URL: database.url, PAWL_PORT: "0" },
      ...more,
    })
    const starts = async (environment: Record<string, string>) => {
      await using server = new PawlProcess(["serve"], environment)
      await server.says(/listening on/)
      return (await server.kill("SIGTERM")).code
    }
    const refused = async (environment: Record<string, string>) => {
      const { code, stdout, stderr } = await pawl(["serve"], environment)
      expect([code, stdout]).toEqual([1, ""])
      expect(stderr).toMatch(/master key differs from the one of the database .*Set MASTER_ENCRYPTION_KEY to/s)
      expect(stderr).not.toContain(" at ")
    }
    const first = node()
    // A command next to it, with a data folder of its own, does not decide which key it is.
    expect((await command(["token", "create", "--user", "ada"], node())).code).toBe(0)
    expect(await starts(first)).toBe(0)
    expect(await starts(first)).toBe(0)
    await refused(node())
    const old = readFileSync(join(first.PAWL_DATA, "master.key"), "utf8").trim()
    const [MASTER_ENCRYPTION_KEY, next] = [old, "b".repeat(64)]
    expect(await starts(node({ MASTER_ENCRYPTION_KEY }))).toBe(0)
    await refused(node({ MASTER_ENCRYPTION_KEY: next }))
    const both = { MASTER_ENCRYPTION_KEY: next, MASTER_ENCRYPTION_KEY_PREVIOUS: old }
    expect(await starts(node(both))).toBe(0)
    expect((await command(["rotate-keys"], node(both))).code).toBe(0)
    expect(await starts(node({ MASTER_ENCRYPTION_KEY: next }))).toBe(0)
    await refused(node({ MASTER_ENCRYPTION_KEY: old }))
  })
})
