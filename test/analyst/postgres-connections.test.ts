import { randomBytes } from "node:crypto"
import type { LookupAddress } from "node:dns"
import { createServer, type Socket } from "node:net"
import { mkdtempSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { queryLimits } from "../../packs/analyst/database/sql-guards.ts"
import { postgresKind } from "../../packs/analyst/postgres/kind.ts"
import { toMarkdown } from "../../packs/analyst/markdown/schema-markdown.ts"
import type { PostgresTarget } from "../../core/protocol/databases/connections.ts"
import { codeOf } from "../../core/protocol/errors.ts"
import type { UserId } from "../../core/protocol/ids.ts"
import { countWork } from "../support/worked.ts"

const user = "user_ada" as UserId
const { signal } = new AbortController()
const name = `reader_${randomBytes(5).toString("hex")}`
const options = { hosts: new OutboundPolicy(["127.0.0.1"]), superuserConnections: false }
const kind = postgresKind(options)

describe.runIf(inject("engines").includes("postgres"))("a connection to PostgreSQL", { timeout: 120_000 }, () => {
  let admin: pg.Client
  let target: PostgresTarget
  let server: PostgresTarget

  beforeAll(async () => {
    const url = new URL(inject("postgresUrl"))
    const maker = new pg.Client(url.href)
    await maker.connect()
    await maker.query(`CREATE ROLE ${name} LOGIN PASSWORD 'the-password'`)
    await maker.query(`CREATE DATABASE ${name} OWNER ${name}`)
    await maker.end()
    url.pathname = `/${name}`
    const { hostname: host, port, username, password } = url
    const common = { kind: "postgres", host, port: Number(port), database: name, ssl: false } as const
    server = { ...common, user: username, password }
    target = { ...common, user: name, password: "the-password" }
    admin = new pg.Client(url.href)
    await admin.connect()
    for (const sql of TABLES) await admin.query(sql.replaceAll("OWNER", name))
    return async () => {
      await admin.end()
      const last = new pg.Client(inject("postgresUrl"))
      await last.connect()
      await last.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await last.query(`DROP ROLE ${name}`)
      await last.end()
    }
  })
  afterAll(() => kind.close())

  test("the schema lists the values of an enumeration, also of a list and of a domain", async () => {
    await admin.query("CREATE TYPE mood AS ENUM ('so so', 'it''s fine', 'Happy')")
    await admin.query("CREATE DOMAIN feeling AS mood")
    await admin.query("CREATE TABLE day (a mood NOT NULL, b mood[], c feeling, d text)")
    await admin.query(`ALTER TABLE day OWNER TO ${name}`)
    const { markdown } = toMarkdown(await kind.introspect({ target, user, signal }))
    const values = "one of 'so so' 'it''s fine' 'Happy'"
    expect(markdown).toContain(
      `- a: mood, ${values}, not null\n- b: mood[], ${values}\n- c: feeling, ${values}\n- d: text`,
    )
    for (const what of ["TABLE day", "DOMAIN feeling", "TYPE mood"]) await admin.query(`DROP ${what}`)
  })

  const ask = (sql: string, to: PostgresTarget = target, of = kind) => of.query({ target: to, user, signal }, sql)
  const refusal = (work: Promise<unknown>) =>
    work.then(
      () => "ran",
      (error: unknown) => codeOf(error) ?? String(error),
    )

  test("values arrive without loss", async () => {
    const { columns, rows } =
      await ask(`SELECT 9007199254740993::int8, 42::int8, 1.10::numeric, 'NaN'::float8, '-Infinity'::float4,
      0.1::float8, true, '\\x00ff'::bytea, '{"a": [1, null]}'::jsonb, '{"id": 12345678901234567890}'::json,
      '2026-02-03 04:05:06.789+02'::timestamptz AT TIME ZONE 'UTC', DATE '0044-03-15 BC', INTERVAL '1 day 2:03', ARRAY[1, NULL],
      NULL::int, 'a' || chr(10) || '😀', '10.0.0.1'::inet, 'infinity'::date, 12.34::money::numeric`)
    expect(rows).toEqual([
      [
        ...["9007199254740993", 42, "1.10", "NaN", "-Infinity", 0.1, true, { bytes: 2, base64: "AP8=" }],
        ...[{ a: [1, null] }, '{"id": 12345678901234567890}', "2026-02-03 02:05:06.789", "0044-03-15 BC"],
        ...["1 day 02:03:00", "{1,NULL}", null, "a\n😀", "10.0.0.1", "infinity", "12.34"],
      ],
    ])
    expect(columns[0]).toEqual({ name: "int8", type: "bigint" })
    const none = await ask("SELECT id, name AS id, price FROM item WHERE false")
    expect(none).toEqual({
      columns: [
        { name: "id", type: "integer" },
        { name: "id", type: "character varying(40)" },
        { name: "price", type: "numeric(8,2)" },
      ],
      rows: [],
      truncated: false,
      timeZone: expect.any(String),
    })
  })

  test("cells of a JSON type without valid JSON are texts, however many there are", async () => {
    await admin.query("CREATE CAST (text AS json) WITHOUT FUNCTION")
    const worked = countWork()
    const open = `'"' || repeat('\\"', 30000)`
    const { rows } = await ask(`SELECT (${open})::text::json, 'no JSON'::text::json, '{"a": 1.0}'::jsonb
      FROM generate_series(1, 16)`)
    expect(rows.length).toBe(16)
    for (const row of rows) expect(row).toEqual([`"${'\\"'.repeat(30_000)}`, "no JSON", '{"a": 1.0}'])
    expect(worked()).toBeLessThan(5000)
  })

  test("is described with keys, comments and a few rows, truncated where they are long", async () => {
    const schema = await kind.introspect({ target, user, signal })
    const { markdown, tables, shown } = toMarkdown(schema)
    expect([tables, shown]).toEqual([4, 4])
    expect(markdown).toContain("## item (table")
    expect(markdown).toContain("What is sold \\| here")
    expect(markdown).toContain("- price: numeric(8,2) (In euros)")
    expect(markdown).toContain("- id: integer, not null, primary key")
    expect(markdown).toContain("Refers: item → item(id)")
    expect(markdown).toContain('## other."Odd Name" (table')
    expect(markdown).toContain("## dear (view)")
    expect(markdown).toContain(`${"x".repeat(60)}…`)
    expect(markdown).not.toContain("x".repeat(61))
  })

  test("is described also if reading its rows takes long", async () => {
    const slow = ["slow_1", "slow_2", "slow_3"]
    for (const table of slow)
      for (const sql of [
        `CREATE TABLE ${table} (a int)`,
        `INSERT INTO ${table} VALUES (1)`,
        `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
        `CREATE POLICY late ON ${table} USING (pg_sleep(5) IS NOT NULL)`,
        `GRANT SELECT ON ${table} TO ${name}`,
      ])
        await admin.query(sql)
    const hurried = postgresKind({ ...options, limits: { ...queryLimits, seconds: 2 } })
    try {
      const { tables } = await hurried.introspect({ target, user, signal })
      expect(tables.map((table) => table.name)).toEqual(expect.arrayContaining(["item", ...slow]))
      expect(tables.find((table) => table.name === "item")?.sample?.rows).toHaveLength(3)
    } finally {
      await hurried.close()
      for (const table of slow) await admin.query(`DROP TABLE ${table}`)
    }
  })

  test("warns of each privilege of its role that no question needs, and how to remove it", async () => {
    expect(await kind.probe({ target, user, signal })).toEqual([])
    const role = `${name}_power`
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD 'the-password'`)
    const powerful = { ...target, user: role }
    const warned = async () => (await kind.probe({ target: powerful, user, signal })).join("\n")
    try {
      expect(await warned()).toBe("")
      for (const power of ["pg_read_server_files", "pg_write_server_files", "pg_execute_server_program"]) {
        await admin.query(`GRANT ${power} TO ${role}`)
        expect(await warned()).toMatch(new RegExp(`^${role} may .*\\(${power}\\)[^]*CREATE ROLE pawl_reader`))
        await admin.query(`REVOKE ${power} FROM ${role}`)
      }
      await admin.query(`ALTER ROLE ${role} BYPASSRLS CREATEROLE REPLICATION`)
      expect(await warned()).toMatch(
        /bypasses row security, makes and changes roles, reads everything by replication\./,
      )
    } finally {
      await admin.query(`DROP ROLE ${role}`)
    }
    const lenient = postgresKind({ hosts: new OutboundPolicy(["127.0.0.1"]), superuserConnections: true })
    expect((await lenient.probe({ target: server, user, signal })).join("\n")).toMatch(/is a superuser: .*run programs/)
    await lenient.close()
  })

  test("is refused for a superuser unless the operator allows it", async () => {
    expect(await refusal(ask("SELECT 1", server))).toBe("superuser_refused")
    const lenient = postgresKind({ hosts: new OutboundPolicy(["127.0.0.1"]), superuserConnections: true })
    expect((await ask("SELECT current_user::text, session_user::text", server, lenient)).rows).toEqual([
      ["pg_read_all_data", server.user],
    ])
    // Rows that a policy hides from the reader are reported as missing.
    expect(await refusal(ask("SELECT * FROM private", server, lenient))).toBe("query_failed")
    expect((await ask("SELECT count(*) FROM private")).rows).toEqual([[2]])
    await lenient.close()
  })

  test("keeps no session state from one query to the next", async () => {
    const own = postgresKind({
      hosts: new OutboundPolicy(["127.0.0.1"]),
      superuserConnections: false,
      guards: { grammar: false, oneStatement: true, readOnly: true, role: true },
    })
    const [[first]] = (await ask("SELECT pg_backend_pid()", target, own)).rows as [[number]]
    await ask("SELECT set_config('search_path', 'other', false), pg_advisory_lock(77)", target, own)
    const [[second, path]] = (await ask("SELECT pg_backend_pid(), current_setting('search_path')", target, own))
      .rows as [[number, string]]
    expect(second).not.toBe(first)
    expect(path).not.toBe("other")
    await own.close()
  })

  test("passes on the database's error without the password", async () => {
    const told = (work: Promise<unknown>) => work.catch((error: Error) => error.message)
    expect(await told(ask("SELECT nothing FROM item"))).toContain('column "nothing" does not exist')
    const secret = "a-very-secret-password"
    for (const wrong of [
      { password: secret },
      { database: secret, password: secret },
      { user: secret, password: secret },
    ]) {
      const message = await told(ask("SELECT 1", { ...target, ...wrong }))
      expect(message).toContain("could not be reached")
      expect(message).not.toContain(secret)
    }
    expect(await refusal(ask("SELECT 1", { ...target, port: 1 }))).toBe("connection_failed")
  })

  test("passes on the error of a statement unchanged, even if the password occurs in it", async () => {
    await admin.query(`ALTER ROLE ${name} PASSWORD 'nothing'`)
    try {
      const message = await ask("SELECT nothing FROM item", { ...target, password: "nothing" }).catch(String)
      expect(message).toContain('column "nothing" does not exist')
    } finally {
      await admin.query(`ALTER ROLE ${name} PASSWORD 'the-password'`)
    }
    // A failed sign-in does not reveal the password by removing it from the message either.
    for (const [wrong, problem] of [
      [{ password: "user" }, "the user name or the password is wrong"],
      [{ database: "nowhere", password: "the-password" }, "there is no database of this name"],
    ] as const) {
      expect(await ask("SELECT 1", { ...target, ...wrong }).catch(String)).toContain(problem)
    }
  })

  test("ignores environment variables and files of this machine", async () => {
    const folder = mkdtempSync(join(tmpdir(), inject("testRun"), "home-"))
    const file = join(folder, "pgpass")
    writeFileSync(file, `*:*:*:*:${target.password}\n`, { mode: 0o600 })
    const given = {
      PGPASSWORD: target.password,
      PGPASSFILE: file,
      PGSSLMODE: "require",
      PGOPTIONS: "-c statement_timeout=1",
      PGSSLNEGOTIATION: "direct",
      PGAPPNAME: "evil",
    }
    const before = Object.fromEntries(Object.keys(given).map((key) => [key, process.env[key]]))
    Object.assign(process.env, given)
    try {
      expect(await refusal(ask("SELECT 1", { ...target, password: "" }))).toBe("connection_failed")
      expect((await ask("SELECT count(*) FROM generate_series(1, 300000)")).rows).toEqual([[300_000]])
    } finally {
      for (const [key, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[key]
        else process.env[key] = value
      }
    }
  })

  test("connects to the checked address, also if the name resolves differently later", async () => {
    const reached: string[] = []
    const trap = createServer((socket: Socket) => {
      reached.push(socket.localAddress ?? "")
      socket.destroy()
    })
    await new Promise<void>((resolve) => trap.listen(0, "127.0.0.1", resolve))
    const { port } = trap.address() as { port: number }
    const answers: LookupAddress[][] = [
      [{ address: "93.184.215.14", family: 4 }],
      [{ address: "127.0.0.1", family: 4 }],
      [
        { address: "93.184.215.14", family: 4 },
        { address: "127.0.0.1", family: 4 },
      ],
      [{ address: "::ffff:127.0.0.1", family: 6 }],
      [{ address: "169.254.169.254", family: 4 }],
      [],
    ]
    const resolve = ((_host: string, _options: object, answer: (error: null, found: LookupAddress[]) => void) => {
      answer(null, answers.shift() ?? [])
    }) as never
    const strict = postgresKind({ hosts: new OutboundPolicy(false, resolve), superuserConnections: false })
    const rebound = { ...target, host: "db.example", port }
    await strict.check(rebound, user)
    for (let round = 0; round < 5; round++) {
      expect(await refusal(ask("SELECT 1", rebound, strict))).toBe("host_not_allowed")
    }
    for (const host of ["127.0.0.1", "::1", "169.254.169.254", "10.1.2.3", "0.0.0.0", "::ffff:7f00:1"]) {
      expect(await refusal(ask("SELECT 1", { ...rebound, host }, strict))).toBe("host_not_allowed")
    }
    expect(reached).toEqual([])
    // An allowed name is resolved once, by the policy's lookup: no other resolver knows it.
    let asked = 0
    const found = ((_host: string, _options: object, answer: (error: null, found: LookupAddress[]) => void) => {
      asked++
      answer(null, [{ address: "127.0.0.1", family: 4 }])
    }) as never
    const open = postgresKind({ hosts: new OutboundPolicy(["127.0.0.1"], found), superuserConnections: false })
    expect((await ask("SELECT 1", { ...target, host: "db.example" }, open)).rows).toEqual([[1]])
    expect(asked).toBe(1)
    await open.close()
    await strict.close()
    await new Promise((done) => trap.close(done))
  })

  test("to a server that is not PostgreSQL ends soon, whatever it sends", async () => {
    const sends: readonly (Buffer | string)[] = [
      "HTTP/1.1 200 OK\r\n\r\n",
      Buffer.alloc(100, 0x52),
      Buffer.alloc(20_000_000, 0x41),
    ]
    for (const bytes of sends) {
      expect(await answered(() => bytes)).toMatch(/connection_failed|query_timeout|result_too_large/)
    }
  })

  /** The error for a server that answers in an unusual way. */
  async function answered(answer: (asked: Buffer) => Buffer | string): Promise<string> {
    const odd = createServer((socket) => {
      socket.on("error", () => {})
      socket.on("data", (asked) => socket.write(answer(asked)))
    })
    await new Promise<void>((resolve) => odd.listen(0, "127.0.0.1", resolve))
    try {
      const { port } = odd.address() as { port: number }
      const guards = { grammar: false, oneStatement: true, readOnly: true, role: true }
      const quick = postgresKind({ ...options, guards, limits: { ...queryLimits, seconds: 2 } })
      return await refusal(ask("SELECT 1", { ...target, port }, quick))
    } finally {
      odd.close()
    }
  }

  test("survives a server that only pretends to be PostgreSQL", async () => {
    const message = (type: string, body: Buffer) => {
      const head = Buffer.from(`${type}0000`)
      head.writeInt32BE(body.length + 4, 1)
      return Buffer.concat([head, body])
    }
    const welcome = [message("R", Buffer.alloc(4)), message("K", Buffer.alloc(8)), message("Z", Buffer.from("I"))]
    const types = [..."RKZTDCENASIsntGHWdc1233vX"]
    // Short bodies, so that each is read past its end, before and after a proper welcome.
    const told = types.flatMap((type, index) => {
      const body = Buffer.alloc(index % 7, index)
      let greeted = false
      const later = () => {
        const next = greeted ? message(type, body) : Buffer.concat(welcome)
        greeted = true
        return next
      }
      return [answered(() => message(type, body)), answered(later)]
    })
    for (const code of await Promise.all(told)) expect(code).toMatch(/^[a-z_]+$/)
  })

  test("is refused if it has to be encrypted and cannot be", async () => {
    expect(await refusal(ask("SELECT 1", { ...target, ssl: true }))).toBe("connection_failed")
    expect(await refusal(ask("SELECT 1", { ...target, ssl: "no-verify" }))).toBe("connection_failed")
  })
})

const TABLES = [
  "GRANT ALL ON SCHEMA public TO OWNER",
  "SET ROLE OWNER",
  "CREATE SCHEMA other",
  "CREATE TABLE item (id int PRIMARY KEY, name varchar(40), price numeric(8, 2))",
  "COMMENT ON TABLE item IS 'What is sold | here'",
  "COMMENT ON COLUMN item.price IS 'In euros'",
  "INSERT INTO item SELECT i, 'item ' || i, i FROM generate_series(1, 10) i",
  'CREATE TABLE other."Odd Name" (item int REFERENCES item (id), "a ""b" text)',
  `INSERT INTO other."Odd Name" VALUES (1, repeat('x', 5000))`,
  "CREATE VIEW dear AS SELECT * FROM item WHERE price > 5",
  "CREATE TABLE private (a int)",
  "INSERT INTO private VALUES (1), (2)",
  "ALTER TABLE private ENABLE ROW LEVEL SECURITY",
  "RESET ROLE",
]
