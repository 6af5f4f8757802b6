import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { postgresKind } from "../../packs/analyst/postgres/kind.ts"
import type { PostgresGuards } from "../../packs/analyst/database/sql-guards.ts"
import type { PostgresTarget } from "../../core/protocol/databases/connections.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { openOwnPostgres } from "../support/processes/own-postgres.ts"
import { attemptsOf, stateOf, tryEach } from "./hostile-statements.ts"
import { oneIn } from "../support/sizes.ts"

const user = "user_ada" as UserId
const hosts = new OutboundPolicy(["127.0.0.1"])
const all: PostgresGuards = { grammar: true, oneStatement: true, readOnly: true, role: true }
const name = "walls"

describe.runIf(inject("engines").includes("postgres"))("hostile statements of PostgreSQL", { timeout: 300_000 }, () => {
  /**
   * A server of its own, because the test inspects all of it: its roles, databases and locks, and other tests have
   * some.
   */
  let postgres: Awaited<ReturnType<typeof openOwnPostgres>>
  let admin: pg.Client
  let folder: string
  let attempts: string[]
  let server: PostgresTarget
  let owner: PostgresTarget
  /** The state before the first attack: a later one might include a session that the last attack left. */
  let untouched: string

  beforeAll(async () => {
    postgres = await openOwnPostgres()
    const url = new URL(postgres.url)
    const { hostname: host, port, username, password } = url
    const common = { kind: "postgres", host, port: Number(port), database: name, ssl: false } as const
    server = { ...common, user: username, password }
    owner = { ...common, user: name, password: "owner-password" }
    const maker = new pg.Client(url.href)
    await maker.connect()
    await maker.query(`CREATE ROLE ${name} LOGIN PASSWORD 'owner-password'`)
    await maker.query(`CREATE DATABASE ${name} OWNER ${name}`)
    await maker.end()
    url.pathname = `/${name}`
    admin = new pg.Client(url.href)
    await admin.connect()
    await admin.query("CREATE EXTENSION dblink")
    await admin.query(`SET ROLE ${name}`)
    await admin.query("GRANT ALL ON SCHEMA public TO CURRENT_USER").catch(() => {})
    for (const sql of SHOP) await admin.query(sql)
    const lo = (await admin.query("SELECT lo_from_bytea(0, 'treasure') AS id")).rows[0].id as number
    await admin.query("RESET ROLE")
    folder = mkdtempSync(join(tmpdir(), inject("testRun"), "walls-"))
    const out = join(folder, "out")
    mkdirSync(out)
    // The server runs as another user.
    for (const open of [folder, out]) chmodSync(open, 0o777)
    chmodSync(join(tmpdir(), inject("testRun")), 0o755)
    const secret = join(folder, "secret")
    writeFileSync(secret, "9\tsecret")
    attempts = attemptsOf("hostile-postgres.sql", { out, secret, lo: String(lo) })
    untouched = await stateNow()
  })

  afterAll(async () => {
    await admin.end()
    await postgres[Symbol.asyncDispose]()
  })

  /** Everything that could have been changed: rows, objects, counters, large objects, roles, settings, locks, slots, files. */
  async function stateNow(): Promise<string> {
    const { rows } = await admin.query(STATE)
    return JSON.stringify(rows) + stateOf(folder)
  }

  /** The server takes a moment to notice that the last connection is closed; longer if it is busy. */
  async function isHarmed(before: string, looks: number): Promise<boolean> {
    for (let look = 0; look < looks; look++) {
      if ((await stateNow()) === before) return false
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return true
  }

  async function attack(
    target: PostgresTarget,
    guards: Partial<PostgresGuards>,
    { superuserConnections = true, before = untouched, looks = 600, tried = attempts } = {},
  ) {
    const kind = postgresKind({ hosts, superuserConnections, guards: { ...all, ...guards } })
    try {
      const outcomes = await tryEach(kind, { target, user }, tried)
      return { outcomes, harmed: await isHarmed(before, looks) }
    } finally {
      await kind.close()
    }
  }

  const each = [
    ["a superuser", () => server],
    ["the owner", () => owner],
  ] as const

  test.each(each)("of %s are all refused, and change nothing", async (_who, target) => {
    const { outcomes, harmed } = await attack(target(), {})
    const others = [...outcomes].filter(([, told]) => told !== "query_refused")
    expect(others).toEqual(BY_THE_SERVER.map((sql) => [sql, "query_failed"]))
    expect(harmed).toBe(false)
    expect(outcomes.size).toBeGreaterThan(190)
  })

  const withoutOne: readonly [who: string, layer: keyof PostgresGuards, target: () => PostgresTarget][] = [
    ["the owner", "oneStatement", () => owner],
    ["the owner", "readOnly", () => owner],
    ["the owner", "role", () => owner],
    ["a superuser whom the operator lets in", "oneStatement", () => server],
    ["a superuser whom the operator lets in", "readOnly", () => server],
    ["a superuser whom the operator lets in", "role", () => server],
  ]
  /** Each of these opens a connection for each of two hundred statements: usually the seed selects one of the two. */
  const turns = oneIn(2, ["grammar", "harm"])
  const grammar = ["the owner", "grammar", () => owner] as const

  test.each([...(turns.includes("grammar") ? [grammar] : []), ...oneIn(6, withoutOne)])(
    "of %s change nothing without %s",
    async (_who, layer, target) => {
      expect((await attack(target(), { [layer]: false })).harmed).toBe(false)
    },
  )

  test("of a superuser change nothing without the guard, because a superuser connection is refused", async () => {
    // None is even parsed: a few, selected by the seed, show that as well as all.
    const tried = [...oneIn(8, attempts)]
    const { outcomes, harmed } = await attack(server, { grammar: false }, { superuserConnections: false, tried })
    expect(outcomes.size).toBe(tried.length)
    expect(new Set(outcomes.values())).toEqual(new Set(["superuser_refused"]))
    expect(harmed).toBe(false)
  })

  const tornDown: readonly [string, () => PostgresTarget, Partial<PostgresGuards>][] = [
    ["the guard, of a superuser who is let in", () => server, { grammar: false }],
    ["the guard and one statement at a time", () => owner, { grammar: false, oneStatement: false }],
    ["the guard and reading only", () => owner, { grammar: false, readOnly: false }],
  ]
  test.each(turns.includes("harm") ? oneIn(3, tornDown) : [])(
    "do harm without %s, which shows that these tests detect harm",
    async (_, target, guards) => {
      // Two seconds: it does not go away.
      expect((await attack(target(), guards, { before: await stateNow(), looks: 40 })).harmed).toBe(true)
    },
  )
})

/** The parser cannot distinguish these from a column and from a sampling method that only reads. */
const BY_THE_SERVER = ["SELECT customer.write_customer FROM customer", "SELECT 1 FROM customer TABLESAMPLE evil (1)"]

const SHOP = [
  "CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL)",
  "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Bo')",
  "CREATE SEQUENCE counter",
  `CREATE FUNCTION write_customer() RETURNS int LANGUAGE plpgsql AS
    'BEGIN INSERT INTO customer VALUES (99, ''evil''); RETURN 1; END'`,
  `CREATE FUNCTION write_customer(c customer) RETURNS int LANGUAGE plpgsql AS
    'BEGIN INSERT INTO customer VALUES (98, ''evil''); RETURN 1; END'`,
]

const hash = (what: string, from: string) => `(SELECT md5(string_agg(${what}, ' ' ORDER BY ${what})) FROM ${from})`
const STATE = `SELECT ${[
  "(SELECT to_regclass('customer'))",
  "(SELECT last_value FROM counter)",
  hash(
    "relname::text || relkind::text || coalesce(relacl::text, '')",
    "pg_class WHERE relnamespace = 'public'::regnamespace",
  ),
  hash("proname::text || coalesce(proacl::text, '')", "pg_proc WHERE pronamespace = 'public'::regnamespace"),
  hash("rolname::text || rolsuper::text", "pg_roles"),
  hash("nspname::text", "pg_namespace WHERE nspname !~ '^pg_'"),
  hash("oid::text", "pg_largeobject_metadata"),
  hash("encode(data, 'hex')", "pg_largeobject"),
  hash("setconfig::text", "pg_db_role_setting"),
  hash("attname::text", "pg_attribute WHERE attrelid = to_regclass('customer')"),
  hash("description", "pg_description d JOIN pg_class c ON c.oid = d.objoid AND relnamespace = 'public'::regnamespace"),
  hash("objid::text", "pg_locks WHERE locktype = 'advisory'"),
  hash("slot_name::text", "pg_replication_slots"),
  // State that a session leaves: itself, its locks, its subscriptions and its settings for others.
  hash("pid::text || state", "pg_stat_activity WHERE application_name = 'pawl' AND datname = current_database()"),
  hash("l.locktype || l.mode", "pg_locks l JOIN pg_stat_activity s USING (pid) WHERE s.application_name = 'pawl'"),
  hash("name || setting", "pg_file_settings"),
  hash("datname::text || coalesce(datacl::text, '')", "pg_database"),
  hash("tgname::text", "pg_trigger WHERE NOT tgisinternal"),
  hash("gid", "pg_prepared_xacts"),
  "(SELECT md5(query_to_xml('SELECT * FROM customer ORDER BY id', true, true, '')::text))",
]
  .map((part, index) => `${part} AS part${index}`)
  .join(", ")}`
