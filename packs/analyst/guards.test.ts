import { existsSync, readFileSync } from "node:fs"
import { gunzipSync } from "node:zlib"
import { afterAll, describe, expect, test } from "vitest"
import { attemptsOf } from "../../test/analyst/hostile-statements.ts"
import { isLong } from "../../test/support/sizes.ts"
import { PostgresGuard } from "./postgres/guard.ts"
import { problemOfStatement } from "./sqlite/statement.ts"

const guard = new PostgresGuard()
afterAll(() => guard.close())

const gold = new URL("../../../../shared/outside/text-to-sql.json.gz", import.meta.url)

/** `WITH c0 …, c1 AS (… c0) …`: each step goes by the one before it. */
const chain = (steps: number, step: string) => {
  const named = Array.from({ length: steps }, (_, n) => `c${n + 1} AS (${step} c${n})`)
  return `WITH c0 AS (SELECT name AS a FROM t), ${named.join(", ")} SELECT * FROM c${steps}`
}
const nested = (test: string, times: number) => `SELECT ${"(".repeat(times)}a ${`${test})::int `.repeat(times)} FROM t`
const columns = (count: number) => Array.from({ length: count }, (_, n) => `c${n}`).join(", ")

describe("PostgreSQL's guard", () => {
  /** Names, which the grammar cannot tell from those of columns and methods that only read. */
  const NAMES = ["SELECT customer.write_customer FROM customer", "SELECT 1 FROM customer TABLESAMPLE evil (1)"]

  test("refuses every hostile statement, each with a reason", async () => {
    const let_through: string[] = []
    for (const sql of attemptsOf("hostile-postgres.sql", { lo: "1" })) {
      if ((await guard.checkQuery(sql)).problem === undefined) let_through.push(sql)
    }
    expect(let_through).toEqual(NAMES)
  })

  test.each([
    "SELECT 1",
    "select * from a.b where c between 1 and 2 and d in (1,2,3) or e is not null and f like 'x%' escape '!'",
    "VALUES (1, 'a'), (2, NULL)",
    "TABLE customer",
    "SELECT DISTINCT ON (a) a, b FROM t ORDER BY a, b DESC NULLS LAST LIMIT 5 OFFSET 2",
    "SELECT * FROM t ORDER BY a FETCH FIRST 3 ROWS WITH TIES",
    "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9) SELECT sum(i) FROM n",
    "WITH RECURSIVE g AS (SELECT 1 AS i UNION ALL SELECT i FROM g) SEARCH DEPTH FIRST BY i SET o CYCLE i SET c USING p SELECT * FROM g",
    "WITH a AS MATERIALIZED (SELECT 1), b AS NOT MATERIALIZED (SELECT 2) SELECT * FROM a, b",
    "SELECT a, rank() OVER w, sum(b) FILTER (WHERE b > 0) OVER (PARTITION BY a ORDER BY c ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE TIES) FROM t WINDOW w AS (PARTITION BY a ORDER BY b)",
    "SELECT a, b, grouping(a), count(*) FROM t GROUP BY GROUPING SETS ((a), CUBE (a, b), ()) HAVING count(*) > 1",
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY price), mode() WITHIN GROUP (ORDER BY a), string_agg(DISTINCT b, ',' ORDER BY b) FROM t",
    "SELECT EXTRACT(year FROM d), date_trunc('month', d), d AT TIME ZONE 'UTC', d + INTERVAL '1 day', now() - d, CURRENT_DATE, LOCALTIMESTAMP FROM t",
    "SELECT SUBSTRING(a FROM 1 FOR 2), POSITION('x' IN a), TRIM(BOTH ' ' FROM a), OVERLAY(a PLACING 'x' FROM 1), a ~* 'b', a SIMILAR TO 'c%', a COLLATE \"C\" FROM t",
    "SELECT CASE a WHEN 1 THEN 'x' ELSE 'y' END, COALESCE(a, b), NULLIF(a, b), GREATEST(a, b), LEAST(a, b) FROM t",
    "SELECT a::int, CAST(b AS numeric(10, 2)), c::text[], '{\"a\": 1}'::jsonb -> 'a' ->> 'b', d @> '{}', e[1], e[1:2], (f).g, ROW (1, 2), ARRAY[1, 2] FROM t",
    "SELECT * FROM a NATURAL JOIN b LEFT JOIN c USING (id) FULL JOIN d ON a.x = d.x CROSS JOIN LATERAL (SELECT a.y) e",
    "SELECT * FROM generate_series(1, 3) WITH ORDINALITY AS g (n, place), unnest(ARRAY[1]) u, jsonb_to_recordset('[]') AS r (a int, b text)",
    "SELECT * FROM t WHERE EXISTS (SELECT 1) AND a > ALL (SELECT 2) AND b = ANY (ARRAY[1]) AND (c, d) IN (SELECT 1, 2) AND e IS DISTINCT FROM f AND g IS TRUE",
    "SELECT 1 UNION SELECT 2 INTERSECT SELECT 3 EXCEPT ALL (SELECT 4 ORDER BY 1 LIMIT 1)",
    "SELECT JSON_OBJECT('a': 1), JSON_ARRAY(1, 2), JSON_VALUE('{}', '$.a' RETURNING int DEFAULT 0 ON EMPTY), JSON_QUERY('{}', '$.a' WITH WRAPPER), JSON_EXISTS('{}', '$.a'), '{}' IS JSON OBJECT",
    "SELECT JSON_ARRAYAGG(a ORDER BY a), JSON_OBJECTAGG(a: b ABSENT ON NULL), JSON_ARRAY(SELECT a FROM t) FROM t",
    "SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (id FOR ORDINALITY, a int PATH '$.a', NESTED PATH '$.b[*]' COLUMNS (c text)))",
    "SELECT to_tsvector('english', a) @@ plainto_tsquery('b'), ts_rank(v, q), similarity FROM t TABLESAMPLE SYSTEM (10) REPEATABLE (1)",
    "SELECT table_name FROM information_schema.tables; -- what there is",
    "/* why */ SELECT relname FROM pg_class WHERE relkind = 'r'",
    "SELECT count(*) n FROM t a (x, y) WHERE a.x BETWEEN SYMMETRIC 1 AND 2 AND y NOT ILIKE ALL (ARRAY['a'])",
    "SELECT make_interval(days => 3), concat_ws(',', VARIADIC ARRAY['a'])",
    "SELECT repeat('#', least(n, 50)), repeat('=', 1000000), lpad(a::text, 5, '0'), rpad(b, 20::int), array_fill(0, ARRAY[3, 4]), repeat('', 0) FROM t",
  ])("lets through %s", async (sql) => {
    expect((await guard.checkQuery(sql)).problem).toBeUndefined()
  })

  test.each([
    "repeat('x', 1000000000)",
    "repeat('x', 9999999999)",
    "repeat('x', 1000 * 1000 * 1000)",
    "repeat('x', n)",
    "repeat('x', (SELECT 1000000000))",
    "repeat('x', '1000000000')",
    "repeat('x', least(n, m))",
    "repeat(repeat('x', 10000), 100000)",
    "repeat(s.t, 30000) FROM (SELECT rpad('', 30000) t) s",
    "pg_catalog.lpad('x', 260000000)",
    "array_fill(1, ARRAY[10000, 10000])",
    "array_fill(1, '{100000000}')",
    "repeat(times => 1000000000, string => 'x')",
    "repeat(repeat(repeat(repeat('x', 100), 100), 100), 100)",
    "repeat('x', 900000), repeat('x', 900000), repeat('x', 900000), repeat('x', 900000) || repeat('y', 900000) || repeat(repeat('x', 6), 900000), repeat('x', 900000)",
    "format('%1000000000s', a) FROM t",
    "format('%1$-999999999s', a) FROM t",
    "a::char(10000000), b::bit(10000000)",
  ])("does not let a value of a gigabyte be made: SELECT %s", async (text) => {
    expect((await guard.checkQuery(`SELECT ${text}`)).problem).toMatch(/too large|has to be a number up to/)
  })

  test.each(["format('%*s', 1000000000, 'x')", "format('%' || '1000000000s', 'x')"])(
    "does not let a width be hidden: SELECT %s",
    async (text) => {
      expect((await guard.checkQuery(`SELECT ${text}`)).problem).toMatch(
        /^format takes a width|^the first argument of format/,
      )
    },
  )

  /** Each keeps a backend busy for minutes or for ever, most of them before it looks at its time-out. */
  test.each<[what: string, sql: string]>([
    ["names that stand for each other", chain(2000, "SELECT * FROM")],
    ["queries inside each other", `${"SELECT * FROM (".repeat(300)}SELECT 1 a${") t".repeat(300)}`],
    ["values that are written twice each time", chain(30, "SELECT a || a AS a FROM")],
    ["comparisons of comparisons", nested("BETWEEN 1 AND 2", 20)],
    ["comparisons both ways round", nested("BETWEEN SYMMETRIC 1 AND 2", 10)],
    ["lists of columns", nested("IN (b, c, d, e, f)", 9)],
    ["every way to group", `SELECT count(*) FROM t GROUP BY CUBE (${columns(12)})`],
    [
      "ways to group, times each other",
      "SELECT 1 FROM t GROUP BY CUBE (a, b, c, d, e), ROLLUP (f, g, h, i, j, k, l, m)",
    ],
    ["ways to group in sets", "SELECT 1 FROM t GROUP BY GROUPING SETS (CUBE (a, b, c, d, e, f, g, h), ROLLUP (a, b))"],
    ["a crowd of tables", `SELECT 1 FROM ${Array.from({ length: 200 }, (_, n) => `t AS t${n}`).join(", ")}`],
    ["a long sum", `SELECT ${"1+".repeat(900)}1`],
  ])("does not let the planner be kept busy: %s", async (_, sql) => {
    expect((await guard.checkQuery(sql)).problem).toMatch(/deep|come to too much|groups in more|reads from more/)
  })

  test.each<[what: string, sql: string]>([
    ["a pipeline of thirty steps", chain(30, "SELECT a + 1 AS a FROM")],
    [
      "steps that are each read twice",
      chain(40, "SELECT x.a || y.a AS a FROM PREVIOUS x JOIN").replaceAll(
        /FROM PREVIOUS x JOIN (c\d+)/g,
        "FROM $1 x JOIN $1 y USING (a)",
      ),
    ],
    [
      "steps that group",
      chain(30, "SELECT max(a) + min(a) + max(a) AS a FROM").replaceAll(/FROM (c\d+)\)/g, "FROM $1 GROUP BY a)"),
    ],
    ["ten thousand constants", `SELECT * FROM t WHERE a IN (${Array.from({ length: 10_000 }, (_, n) => n).join(",")})`],
    [
      "columns of many widths",
      `SELECT ${Array.from({ length: 200 }, (_, n) => `rpad(c${n}, 255)`).join(", ")}, repeat('#', 50), repeat('#', 50), format('%-20s|%5s', a, b) FROM t`,
    ],
    [
      "two hundred columns of four comparisons",
      `SELECT ${Array.from({ length: 200 }, (_, n) => `CASE WHEN c${n} BETWEEN 1 AND 2 THEN 'a' WHEN c${n} BETWEEN 3 AND 4 THEN 'b' ELSE c${n}::text END AS d${n}`).join(", ")} FROM t`,
    ],
    [
      "forty joins",
      `SELECT * FROM t ${Array.from({ length: 40 }, (_, n) => `LEFT JOIN u AS u${n} ON u${n}.id = t.id`).join(" ")}`,
    ],
    ["a rollup of a year", "SELECT a, b, c, sum(d) FROM t GROUP BY ROLLUP (a, b, c), GROUPING SETS ((e), ())"],
    ["five hundred rows put together", Array.from({ length: 500 }, (_, n) => `SELECT ${n} AS a`).join(" UNION ALL ")],
  ])("lets through what people write: %s", async (_, sql) => {
    expect((await guard.checkQuery(sql)).problem).toBeUndefined()
  })

  test.runIf(existsSync(gold))("lets through every question of the outside collection that is PostgreSQL", async () => {
    const { questions } = JSON.parse(gunzipSync(readFileSync(gold)).toString()) as { questions: { sql: string }[] }
    const refused = new Set<string>()
    for (const { sql } of questions) {
      const problem = (await guard.checkQuery(sql)).problem
      if (problem !== undefined) refused.add(`${problem}: ${sql}`)
    }
    expect(questions).toHaveLength(1034)
    // SQLite joins without saying on what.
    expect([...refused]).toEqual([
      expect.stringMatching(/^syntax error at or near "WHERE": .* JOIN Treatments AS T2 WHERE/),
    ])
  })

  test("answers rightly after any number of texts that break its grammar", async () => {
    for (let round = 0; round < (isLong ? 8 : 3); round++) {
      const deep = ["a[", "(SELECT ", "1+", "NOT ", "CASE WHEN true THEN "].map((part) =>
        part.repeat(64_000 / part.length),
      )
      for (const text of deep) expect((await guard.checkQuery(`SELECT ${text}`)).problem).toBeDefined()
      for (const depth of [500, 1000, 2000, 4000])
        (await guard.checkQuery(`SELECT ${"a[".repeat(depth)}1${"]".repeat(depth)}`)).problem
      expect((await guard.checkQuery("SELECT 1")).problem).toBeUndefined()
      expect((await guard.checkQuery("DELETE FROM customer")).problem).toContain("Delete")
    }
  })

  test("refuses incomplete text", async () => {
    for (const sql of ["SELECT 1\0; DELETE FROM x", "SELECT '\ud800'", "", "  ", `SELECT '${"x".repeat(70_000)}'`]) {
      expect((await guard.checkQuery(sql)).problem).toBeDefined()
    }
  })
})

describe("the look at a statement of SQLite", () => {
  test.each([
    ["SELECT 1", undefined],
    ["  -- why\n /* so */ select 1 ; ; -- end", undefined],
    ["WITH a AS (SELECT 1) SELECT * FROM a", undefined],
    ["VALUES (1)", undefined],
    ["SELECT ';' || \";\" || `;` || [;]", undefined],
    ["SELECT 'it''s; fine' -- ; DELETE", undefined],
    ["SELECT 1 /* ; */", undefined],
    ["SELECT a$b, '?', \":x\", json('{}') ->> '$.a', [@] FROM t -- ?", undefined],
    ["SELECT * FROM t WHERE a = ?", "parameter"],
    ["SELECT :name", "parameter"],
    ["SELECT a FROM t WHERE b=@b", "parameter"],
    ["SELECT $1", "parameter"],
    ["SELECT 1; DELETE FROM x", "more than one"],
    ["SELECT '\\'; DELETE FROM x; --'", "more than one"],
    ["SELECT 1 /* /* */ ; DELETE FROM x */", "more than one"],
    ["DELETE FROM x", '"delete"'],
    ["SELECTDELETE", '"selectdelete"'],
    ["\u00a0SELECT 1", '"\u00a0"'],
    ["(SELECT 1)", '"("'],
    ["EXPLAIN SELECT 1", undefined],
    ["explain  query\nplan WITH a AS (SELECT 1) SELECT * FROM a", undefined],
    ["EXPLAIN DELETE FROM x", '"delete"'],
    ["EXPLAIN EXPLAIN SELECT 1", '"explain"'],
    ["EXPLAIN QUERY PLAN", '"query"'],
    ["-- SELECT 1", "no statement"],
    ["/* SELECT 1", "no statement"],
    [";", "no statement"],
    ["SELECT 1\0", "NUL"],
  ])("%j", (sql, problem) => {
    if (problem === undefined) expect(problemOfStatement(sql)).toBeUndefined()
    else expect(problemOfStatement(sql)).toContain(problem)
  })
})
