import { beforeAll, describe, expect, inject, test } from "vitest"
import { codeOf } from "../../core/protocol/errors.ts"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { says } from "../../core/models/scripted/script.ts"
import type { Model } from "../../core/engine/model.ts"
import { analystModel, wantsSql } from "./analyst-model.ts"
import { type OpenChanges, openChanges } from "./change-kind.ts"
import { changeTargets, kinds } from "./change-targets.ts"
import { currentScript } from "../support/current-script.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"

/** Late in the evening of the first of June in UTC, which is the second of June in Berlin. */
const LATE = "2026-06-01T23:30:00Z"
const SETUP = [
  "CREATE TABLE visit (id INTEGER PRIMARY KEY, created TIMESTAMPTZ)",
  `INSERT INTO visit VALUES (1, '${LATE}')`,
]
const DAY = "SELECT created::date::text AS day FROM visit"
const hasPostgres = kinds.includes("postgres" as never) && inject("engines").includes("postgres")

describe.runIf(hasPostgres)("days in a PostgreSQL database", () => {
  let open: OpenChanges
  beforeAll(async () => {
    open = await openChanges("postgres")
    for (const sql of SETUP) await open.target.rows(sql)
    return () => open.close()
  })
  const query = (sql: string, timeZone?: string) => open.kind.query({ ...open.place, timeZone }, sql)

  test.each([
    ["Europe/Berlin", "2026-06-02"],
    ["America/New_York", "2026-06-01"],
    ["Asia/Tokyo", "2026-06-02"],
  ])("are those of the user in %s", async (timeZone, day) => {
    expect(await query(DAY, timeZone)).toMatchObject({ rows: [[day]], timeZone })
    const { rows } = await query("SELECT current_setting('TimeZone'), created::text FROM visit", timeZone)
    expect(rows[0]?.[0]).toBe(timeZone)
    expect(new Date(String(rows[0]?.[1])).toISOString()).toBe(new Date(LATE).toISOString())
  })

  test("are those of the database if the zone is missing or unknown", async () => {
    const usual = await query("SELECT current_setting('TimeZone')")
    expect(usual.timeZone).toBe(usual.rows[0]?.[0])
    // JavaScript takes this old name, and PostgreSQL does not.
    const unknown = await query(DAY, "PLT")
    expect(unknown.timeZone).toBe(usual.timeZone)
    expect(await query(DAY, "'; DROP TABLE visit; --")).toMatchObject({ timeZone: usual.timeZone })
  })

  test("are the user's also in a change, and the same when it is applied", async () => {
    const sql = "UPDATE visit SET id = 1 + 0, created = '2026-06-05 00:30' WHERE created::date = '2026-06-02'"
    const place = { ...open.place, timeZone: "Europe/Berlin" }
    expect((await open.rehearse(sql)).affected).toBe(0)
    const change = await open.kind.rehearse(place, sql)
    expect(change.affected).toBe(1)
    await open.kind.apply(place, sql, { expected: change.revision, record: async () => {} })
    expect(await query(DAY, "UTC")).toMatchObject({ rows: [["2026-06-04"]] })
    await open.target.rows(`UPDATE visit SET created = '${LATE}'`)
  })

  test("a query may read the time zone, and no other setting of the server", async () => {
    expect(await query("SHOW TimeZone", "Europe/Berlin")).toMatchObject({ rows: [["Europe/Berlin"]] })
    const { columns, rows } = await query("EXPLAIN SELECT * FROM visit WHERE id = 1")
    expect([columns, String(rows[0])]).toEqual([
      [{ name: "QUERY PLAN", type: "text" }],
      expect.stringContaining("visit"),
    ])
    const [[plan] = []] = (await query("EXPLAIN (ANALYZE, FORMAT JSON) SELECT * FROM visit")).rows
    expect(JSON.stringify(plan)).toContain("Actual Rows")
    const refused = [
      ...["SHOW ALL", "SHOW data_directory", "SHOW hba_file", "SELECT current_setting('data_directory')"],
      ...["SELECT current_setting('Time' || 'Zone')", "SELECT current_setting(created::text) FROM visit"],
      ...["SELECT set_config('TimeZone', 'UTC', false)", "SET timezone = 'UTC'", "EXPLAIN DELETE FROM visit"],
      ...[
        "EXPLAIN ANALYZE DELETE FROM visit",
        "EXPLAIN ANALYZE CREATE TABLE b AS SELECT 1",
        "EXPLAIN (SETTINGS) SELECT 1",
      ],
      ...["EXPLAIN SELECT pg_sleep(1)", "EXPLAIN ANALYZE WITH a AS (DELETE FROM visit RETURNING 1) SELECT 1"],
    ]
    for (const sql of refused) {
      const code = await query(sql).then(
        () => "ran",
        (error: unknown) => codeOf(error),
      )
      expect([sql, code]).toEqual([sql, "query_refused"])
    }
    expect((await open.target.rows("SELECT count(*)::int FROM visit"))[0]).toEqual([1])
  })
})

describe.runIf(hasPostgres).each(anyDatabase)("a question in plain words on $name", ({ create }) => {
  test("both model calls get the user's time zone", async () => {
    const target = await changeTargets.postgres()
    for (const sql of SETUP) await target.rows(sql)
    const model = analystModel(says(DAY))
    const current: Model = currentScript(() => model)
    await using face = await Face.open({
      ...{ url: (await create()).url, model: current, reach: new OutboundPolicy(["127.0.0.1"]) },
    })
    const ada = await face.as("ada")
    const { body } = await ada.post("/api/connections", { name: "Visits", ...target.connection })
    const id = await ada.begin({ agent: "analyst", connectionId: body.id })
    const { messages } = (await ada.say(id, "On which day was the visit?", { timeZone: "Europe/Berlin" })).body
    const tool = messages.find(({ role }: { role: string }) => role === "tool")
    expect(tool.data).toMatchObject({ rows: [["2026-06-02"]], timeZone: "Europe/Berlin" })
    expect(messages.at(-1).content).toContain("the time zone Europe/Berlin")
    expect(model.received.find(({ request }) => wantsSql(request))?.request.system).toContain(
      "whose time zone is Europe/Berlin",
    )
    const sql = { sql: DAY, timeZone: "Asia/Tokyo" }
    const direct = await ada.post(`/api/connections/${body.id}/query`, sql)
    expect(direct.body).toMatchObject({ rows: [["2026-06-02"]], timeZone: "Asia/Tokyo" })
    await target.close()
  })
})
