import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { type OpenChanges, openChanges } from "../change-kind.ts"
import { kinds } from "../change-targets.ts"

describe.runIf(kinds.includes("postgres" as never))("values that PostgreSQL generates in a change", () => {
  let changes: OpenChanges
  beforeAll(async () => {
    changes = await openChanges("postgres")
    const wide = Array.from({ length: 210 }, (_, index) => `c${index} TEXT`).join(", ")
    for (const sql of [
      "CREATE TABLE stamped (id SERIAL PRIMARY KEY, name TEXT, created TEXT, touched TEXT, kept TEXT)",
      `CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        new.created := coalesce(new.created, clock_timestamp()::text); new.touched := clock_timestamp()::text;
        RETURN new; END $$`,
      "CREATE TRIGGER stamp BEFORE INSERT OR UPDATE ON stamped FOR EACH ROW EXECUTE FUNCTION stamp()",
      "CREATE DOMAIN moment AS TIMESTAMPTZ DEFAULT clock_timestamp()",
      "CREATE TABLE event (id INTEGER PRIMARY KEY, at moment)",
      "CREATE TABLE gift (name TEXT, at TIMESTAMPTZ DEFAULT now())",
      "CREATE TABLE given (name TEXT, at TIMESTAMPTZ)",
      "INSERT INTO given VALUES ('a', '2001-01-01')",
      "INSERT INTO gift VALUES ('a', '2001-01-01')",
      "CREATE TABLE clock (id INTEGER PRIMARY KEY, at TIMESTAMPTZ DEFAULT now(), note TEXT DEFAULT 'x (y)', n NUMERIC(9,2) DEFAULT '1.5'::numeric(9,2))",
      `CREATE TABLE wide (${wide})`,
      "INSERT INTO wide (c0) VALUES ('first')",
    ])
      await changes.target.rows(sql)
  })
  afterAll(() => changes.close())

  test.each([
    ["INSERT INTO stamped (name) VALUES ('n')", "id created touched kept"],
    ["UPDATE stamped SET name = 'm'", "touched"],
    // Old and new rows come separately, so that what a trigger changed cannot be determined.
    ["UPDATE stamped SET id = id + 100", "name created touched kept"],
    ["INSERT INTO event (id) VALUES (1)", "at"],
    ["INSERT INTO clock (id) VALUES (1)", "at"],
    ["INSERT INTO clock VALUES (1) ON CONFLICT (id) DO UPDATE SET at = excluded.at", "at"],
    ["INSERT INTO clock VALUES (2, now()) ON CONFLICT (id) DO UPDATE SET at = '2020-01-01'", "at"],
    ["INSERT INTO gift VALUES ('u', timestamptz '2020-01-01') UNION ALL SELECT 'v', now()", "at"],
    ["UPDATE clock SET (at, n) = (now(), 5)", "at"],
  ])("are reported, and do not make the change stale: %s", async (sql, made) => {
    const { revision, made: told } = await changes.rehearse(sql)
    expect(told.join(" ")).toBe(made)
    expect((await changes.apply(sql, revision)).affected).toBeGreaterThan(0)
  })

  test.each([
    "INSERT INTO gift SELECT * FROM given",
    "INSERT INTO gift SELECT (given).* FROM given",
    "INSERT INTO gift VALUES ('a', timestamptz '2000-01-01') UNION ALL SELECT name, at FROM given",
    // The time decides which rows there are, not what is in them.
    "INSERT INTO gift SELECT * FROM given WHERE at < now()",
    "INSERT INTO gift SELECT name, at FROM (SELECT * FROM given WHERE at < now()) x",
    "INSERT INTO gift (at) SELECT at FROM given WHERE at < now() UNION ALL SELECT at FROM given",
    "WITH x AS (SELECT * FROM given WHERE at < now()) INSERT INTO gift SELECT name, at FROM x",
    "UPDATE gift SET at = x.at FROM (SELECT * FROM given WHERE at < now()) x",
    "UPDATE gift SET name = CASE WHEN now() > '2000-01-01' THEN (SELECT at::text FROM given) END",
    "UPDATE wide SET c205 = (SELECT at::text FROM given)",
  ])("does not include values that a statement reads from its tables: %s", async (sql) => {
    const { revision, made } = await changes.rehearse(sql)
    expect([made, (await changes.rehearse(sql)).revision]).toEqual([[], revision])
    await changes.target.rows("UPDATE given SET at = at + interval '1 day'")
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("is stale, with a note, if a value comes from a subquery with random values", async () => {
    const sql = "INSERT INTO gift SELECT r::text, at FROM given, (SELECT random() AS r) x"
    const { revision, notes } = await changes.rehearse(sql)
    expect(notes).toEqual([expect.stringContaining("stale each time")])
    await expect(changes.apply(sql, revision)).rejects.toMatchObject({ code: "row_stale" })
  })

  test("is shown for every column, however many there are", async () => {
    const { before, after, columns } = await changes.rehearse("UPDATE wide SET c209 = 'last'")
    expect([columns.length, before?.[0]?.[209], after?.[0]?.[209]]).toEqual([210, null, "last"])
  })
})
