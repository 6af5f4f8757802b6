import { mkdirSync, readdirSync, readFileSync } from "node:fs"
import { freemem } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { databases } from "../support/databases.ts"
import { lifeNamed } from "../support/processes/package.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { WatchedServer } from "../support/processes/watched-server.ts"
import { isLong, oneIn } from "../support/sizes.ts"

/** Promise 12: so much of the processor one turn of the server's loop may take before others have theirs. */
const MAX_TURN_MS = 1000
/** Five seconds on this server, and what it takes to stop, on a machine that has other things to do. Without a bound they take for ever. */
const MAX_MS = 90_000
/** How long a backend may be deaf, in the middle of a step over a gigabyte. */
const MAX_BUSY_MS = 120_000
/**
 * More than a result may have, in one step that cannot be interrupted. In the long run a gigabyte, which PostgreSQL holds four
 * times over: where there is less, the name of the test says how much it was.
 */
const megabytes = isLong && freemem() > 6 * 2 ** 30 ? 1000 : 150
/** As many as it takes for somebody to hang up in the middle of it. */
const longMegabytes = Math.max(300, megabytes)
const postgres = databases.find(({ name }) => name === "postgres")

describe.runIf(postgres)("queries without an end and of any size", { timeout: 300_000 }, () => {
  let server: WatchedServer
  let url: string
  let token: string
  let bob: string
  let cleo: string
  let admin: pg.Client
  const ids: Record<string, string> = {}
  const folder = dataFolder()

  interface Asked {
    readonly signal?: AbortSignal
    readonly as?: string
  }
  const ask = async (method: string, path: string, body?: object, { signal, as = token }: Asked = {}) => {
    const response = await fetch(`${url}/api${path}`, {
      method,
      headers: { authorization: `Bearer ${as}`, "content-type": "application/json" },
      ...(body ? { body: JSON.stringify(body) } : {}),
      ...(signal ? { signal } : {}),
    })
    // oxlint-disable-next-line typescript/no-explicit-any -- whatever the server said; the test looks into it freely
    return { status: response.status, body: (await response.json()) as any }
  }

  beforeAll(async () => {
    mkdirSync(join(folder, "databases", "shared"), { recursive: true })
    const db = new DatabaseSync(join(folder, "databases", "shared", "x.db"))
    db.exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    db.close()
    const settings = {
      PAWL_DATA: folder,
      PAWL_PORT: "0",
      PAWL_ALLOW_PRIVATE_HOSTS: "127.0.0.1",
      PAWL_ALLOW_SUPERUSER_CONNECTIONS: "on",
    }
    server = new WatchedServer(settings, lifeNamed("impatient-life"))
    url = await server.url()
    token = await tokenFor(settings)
    bob = await tokenFor(settings, "bob")
    cleo = await tokenFor(settings, "cleo")
    const sqlite = { name: "x", kind: "sqlite", path: "shared/x.db" }
    ids.sqlite = (await ask("POST", "/connections", sqlite)).body.id
    ids.bob = (await ask("POST", "/connections", sqlite, { as: bob })).body.id
    ids.cleo = (await ask("POST", "/connections", sqlite, { as: cleo })).body.id
    // Of its own, so that only its own backends are looked at.
    const place = (await postgres!.createEmpty()).url
    admin = new pg.Client(place)
    await admin.connect()
    const { hostname: host, port, pathname, username: user, password } = new URL(place)
    const connection = {
      name: "y",
      kind: "postgres",
      host,
      port: Number(port),
      database: pathname.slice(1),
      user,
      password,
    }
    ids.postgres = (await ask("POST", "/connections", connection)).body.id
    // What is loaded when it is first needed is loaded.
    for (const id of [ids.sqlite, ids.postgres]) await ask("POST", `/connections/${id}/query`, { sql: "SELECT 1" })
    await server.longestTurn()
  })

  afterAll(async () => {
    await admin.end()
    await server[Symbol.asyncDispose]()
  })

  /** The processes of PostgreSQL that are at work for the server, in the order in which they began. */
  const busyPids = async () => {
    const sql = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND application_name = 'pawl' AND state <> 'idle' ORDER BY backend_start`
    return (await admin.query(sql)).rows.map(({ pid }) => pid as number)
  }

  /** Seconds of the processor that each of the server's processes that read SQLite files has had. */
  const workedBySqlite = () => {
    const seconds = new Map<string, number>()
    for (const pid of readdirSync("/proc")) {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8")
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/\(.*\)/s, "name")
          .split(" ")
        if (!/sqlite-child\.\w+\0/.test(words) || fields[3] !== String(server.child.pid)) continue
        seconds.set(pid, (Number(fields[13]) + Number(fields[14])) / 100)
      } catch {
        // No process, or no longer.
      }
    }
    return seconds
  }

  const NUMBERS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"

  const stringOf = (megabytes: number) =>
    `SELECT string_agg(repeat('x', 1000000), '') FROM generate_series(1, ${megabytes})`

  const until = async (reached: (busy: number) => boolean, ms = 60_000) => {
    for (const end = performance.now() + ms; performance.now() < end;) {
      if (reached((await busyPids()).length)) return true
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return false
  }

  const deep = (part: string, times: number, end = "") => `SELECT ${part.repeat(times)}1${end.repeat(times)}`

  /** Which is up first, time or memory, is the machine's: each of these statuses is an answer. */
  const endsInTime = async (id: string | undefined, sql: string, statuses: readonly number[], as = token) => {
    const began = performance.now()
    const reply = await ask("POST", `/connections/${id}/query`, { sql }, { as })
    const took = performance.now() - began
    expect(statuses, JSON.stringify(reply.body).slice(0, 300)).toContain(reply.status)
    if (reply.status === 200) expect(JSON.stringify(reply.body).length).toBeLessThan(12 * 1024 * 1024)
    expect(took).toBeLessThan(MAX_MS)
  }
  const expectOthersHadTheirTurn = async () =>
    expect(await server.longestTurn(), "the longest turn, in ms of the processor").toBeLessThan(MAX_TURN_MS)
  const expectUnmoved = async () => {
    await expectOthersHadTheirTurn()
    expect(await until((busy) => busy === 0)).toBe(true)
  }

  const recursion = `${NUMBERS} SELECT count(*) FROM n`
  const product = `${NUMBERS}, m AS (SELECT i FROM n LIMIT 100000) SELECT count(*) FROM m a, m b, m c`
  const longSum = `${NUMBERS} SELECT group_concat(hex(zeroblob(1000000))) FROM n`
  const series = `SELECT count(*) FROM ${["a", "b", "c"].map((x) => `generate_series(1, 100000) ${x}`)}`

  test("what has no end is ended in time: a recursion, a product and a long sum", async () => {
    // Beside each other, because each takes all of its time.
    await Promise.all([
      endsInTime(ids.sqlite, recursion, [422, 504]),
      // Of files one person reads one at a time.
      endsInTime(ids.bob, product, [422, 504], bob),
      endsInTime(ids.cleo, longSum, [422, 504], cleo),
      endsInTime(ids.postgres, recursion, [504]),
      endsInTime(ids.postgres, series, [504]),
    ])
    await expectUnmoved()
  })

  /** What it is called, what is asked, and the statuses that are an answer. */
  const hostile: readonly [kind: "sqlite" | "postgres", what: string, sql: string, ...statuses: number[]][] = [
    ["sqlite", "rows without an end", `${NUMBERS} SELECT i FROM n`, 200],
    ["sqlite", "a set", `${NUMBERS} SELECT count(*) FROM (SELECT DISTINCT hex(randomblob(500000)) FROM n)`, 422, 504],
    ["sqlite", "a gigabyte", "SELECT hex(zeroblob(1000000000))", 422],
    ["sqlite", "a gigabyte of digits", "SELECT printf('%1000000000d', 1)", 422],
    ["sqlite", "a pattern", `SELECT hex(zeroblob(2000)) LIKE '${"%_".repeat(2000)}x'`, 200, 504],
    ["sqlite", "a deep nest", deep("(", 5000, ")"), 422],
    ["sqlite", "a long union", `SELECT 1 ${"UNION ALL SELECT 1 ".repeat(3000)}`, 422],
    ["postgres", "20 million rows", "SELECT generate_series(1, 20000000)", 200],
    ["postgres", "20 million rows, kept aside", "SELECT * FROM generate_series(1, 20000000)", 200, 504],
    ["postgres", "a gigabyte", "SELECT repeat('x', 1000000000)", 400],
    ["postgres", "JSON of megabytes", "SELECT jsonb_agg(i) FROM generate_series(1, 900000) i", 200, 504],
    [
      "postgres",
      "much JSON",
      "SELECT (SELECT jsonb_agg('[]'::jsonb) FROM generate_series(1, 15000) WHERE i > 0) FROM generate_series(1, 120) i",
      200,
      504,
    ],
    ["postgres", "rows of megabytes", "SELECT repeat('x', 1000000) FROM generate_series(1, 2000)", 200],
    [
      "postgres",
      "a long sum",
      "SELECT length(string_agg(repeat('x', 1000000), '')) FROM generate_series(1, 5000)",
      422,
      504,
    ],
    ["postgres", "a deep nest", deep("(SELECT ", 3000, ")"), 400, 422],
    ["postgres", "a nest that never ends", deep("a[", 15_000), 400],
    ["postgres", "a pattern", "SELECT repeat('a', 50000) ~ '(a*)*b'", 200, 422, 504],
  ]
  // Usually a quarter of them, by the seed; all in the long run.
  test.each(oneIn(4, hostile))("%s: %s ends in time", async (kind, _what, sql, ...statuses) => {
    await endsInTime(ids[kind], sql, statuses)
    await expectUnmoved()
  })

  // What rows add up to is not seen beforehand, and no step of PostgreSQL over it can be interrupted: the answer comes in
  // time all the same, and the backend is told to go until it has gone.
  const addedUp: readonly [where: string, sql: string][] = [
    ["in a result", stringOf(megabytes)],
    ["inside the query", `SELECT length(reverse(t)) FROM (${stringOf(megabytes)}) g (t)`],
    ["as an array", `SELECT array_agg(repeat('x', 1000000)) FROM generate_series(1, ${megabytes})`],
    ["as JSON", `SELECT json_agg(repeat('x', 1000000)) FROM generate_series(1, ${megabytes})`],
  ]
  test.each(oneIn(2, addedUp))(
    `postgres: ${megabytes} MB that rows add up to, %s, is answered in time`,
    async (_where, sql) => {
      const began = performance.now()
      const reply = await ask("POST", `/connections/${ids.postgres}/query`, { sql })
      expect(performance.now() - began).toBeLessThan(MAX_MS)
      // The smallest of them may be through before time is up.
      expect([200, 422, 504], JSON.stringify(reply.body).slice(0, 300)).toContain(reply.status)
      await expectOthersHadTheirTurn()
      // Nobody else waits for it.
      expect((await ask("POST", `/connections/${ids.postgres}/query`, { sql: "SELECT 1" })).status).toBe(200)
      expect(await until((busy) => busy === 0, MAX_BUSY_MS)).toBe(true)
      await expectOthersHadTheirTurn()
    },
  )

  test("postgres: whoever hangs up in the middle of it has the next answer at once", async () => {
    const leaving = new AbortController()
    const query = ask(
      "POST",
      `/connections/${ids.postgres}/query`,
      { sql: stringOf(longMegabytes) },
      { signal: leaving.signal },
    )
    query.catch(() => {})
    expect(await until((busy) => busy === 1)).toBe(true)
    leaving.abort()
    const began = performance.now()
    expect((await ask("POST", `/connections/${ids.postgres}/query`, { sql: "SELECT 1" })).status).toBe(200)
    expect(performance.now() - began).toBeLessThan(MAX_MS)
    expect(await until((busy) => busy === 0, MAX_BUSY_MS)).toBe(true)
  })

  test("many at once hold up neither the server nor somebody else", async () => {
    const enough = new AbortController()
    const sql = `${NUMBERS} SELECT count(*) FROM n`
    const before = workedBySqlite()
    let ended = 0
    const endless = Array.from({ length: 6 }, () =>
      ask("POST", `/connections/${ids.sqlite}/query`, { sql }, { signal: enough.signal }),
    )
    for (const query of endless)
      void query.then(
        () => ended++,
        () => {},
      )
    // As many run as may: only then is there something to be held up by. To start takes a tenth of that.
    const worked = () =>
      Math.max(
        0,
        ...workedBySqlite()
          .entries()
          .map(([pid, now]) => now - (before.get(pid) ?? 0)),
      )
    await expect.poll(worked, { timeout: 60_000 }).toBeGreaterThan(0.5)
    const one = await ask("POST", `/connections/${ids.bob}/query`, { sql: "SELECT a FROM t" }, { as: bob })
    expect(one.body.rows).toEqual([[1]])
    // Of one person's, one runs at a time, and each takes all of its time: somebody else has not waited for them.
    expect(ended, "of the six, how many came to their end before").toBeLessThan(3)
    enough.abort()
    await Promise.allSettled(endless)
    await expectOthersHadTheirTurn()
  })

  test("whoever hangs up has stopped the query, long before its time is up", async () => {
    const begin = () => {
      const leaving = new AbortController()
      const query = ask("POST", `/connections/${ids.postgres}/query`, { sql: recursion }, { signal: leaving.signal })
      query.catch(() => {})
      return leaving
    }
    // One that began before it, and whose time is up before its own, goes on after it has gone.
    const stays = begin()
    expect(await until((busy) => busy === 1)).toBe(true)
    const leaves = begin()
    expect(await until((busy) => busy === 2)).toBe(true)
    const [first, second] = await busyPids()
    leaves.abort()
    await expect.poll(busyPids, { interval: 20, timeout: 60_000 }).not.toContain(second)
    expect(await busyPids()).toContain(first)
    stays.abort()
    expect(await until((busy) => busy === 0)).toBe(true)
    expect((await ask("POST", `/connections/${ids.postgres}/query`, { sql: "SELECT 1" })).status).toBe(200)
  })
})
