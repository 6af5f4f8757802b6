import { globSync } from "node:fs"
import { basename, join } from "node:path"
import { describe, expect, test } from "vitest"
import { databases } from "../../../test/support/databases.ts"
import { openPostgres, postgresWords } from "../engine/open-postgres.ts"
import { openSqlite, sqliteWords } from "../engine/open-sqlite.ts"
import { migrations } from "./list.ts"
import { migrate } from "./migrate.ts"

/** As databases in use remember them. A line is added with each new migration, and none is ever changed. */
const remembered = [
  "001_journal",
  "002_tasks",
  "003_sign_in",
  "004_audit",
  "005_secrets_and_usage",
  "006_deliveries",
  "007_message_keys",
  "008_devices",
  "009_applied_call_person",
  "010_workspace",
  "011_note_vectors",
  "013_connections",
  "014_conversation_connection",
  "014_query_results",
  "015_statement_attempts",
  "016_library",
  "017_node_beats",
  "018_erased_identities",
  "019_token_lineage",
  "020_seen_proposals",
  "021_device_owners",
  "022_deaths",
  "023_page_secrets",
  "024_last_conversation",
  "025_passage_grams",
  "026_days",
  "027_document_hash",
  "028_embedding_claims",
  "029_note_claims",
  "030_tables_of_packs",
  "031_news",
  "032_connected_devices",
  "033_node_mail",
  "034_kept_files",
  "035_earmarks",
  "036_buckets",
  "037_node_sight",
  "038_what_needs_a_newer_version",
  "039_events_known",
  "040_event_partitions",
  "041_usage_of_conversations",
  "042_conversation_settings",
  "043_message_files",
  "044_files_in_a_folder",
  "045_mcp",
  "046_authorization_codes",
  "047_issuer_identities",
  "048_mcp_sign_ins",
  "049_sessions_of_issuers",
  "050_runs_that_go_on",
  "051_shared_runs",
  "052_kept_folds",
  "053_lapsed_proposals",
  "054_doubtful_proposals",
  "055_usage_days",
  "056_proposals_of_people",
  "057_proposals_without_owner",
  "058_listed_proposals",
  "059_unseen_proposals",
  "060_proposals_at_hand",
  "061_fewer_bytes_of_what_waits",
]

/** Files that got another number after databases had remembered their names. */
const renumbered: Readonly<Record<string, string>> = {
  "012-connections.ts": "013_connections",
  "013-conversation-connection.ts": "014_conversation_connection",
}

/** By their paths: twenty numbers to a folder, which is called by its first and its last. */
const paths = globSync("*-*/[0-9]*.ts", { cwd: import.meta.dirname }).sort()
const files = paths.map((path) => basename(path))

test("the files of migrations are numbered from 1 on, without a hole and without a double", () => {
  expect(files.map((file) => file.slice(0, 4))).toEqual(
    files.map((_, index) => `${String(index + 1).padStart(3, "0")}-`),
  )
})

test("each lies in the folder of its number", () => {
  const folderOf = (number: number) => {
    const first = number - ((number - 1) % 20)
    return [first, first + 19].map((each) => String(each).padStart(3, "0")).join("-")
  }
  expect(paths).toEqual(files.map((file) => `${folderOf(Number(file.slice(0, 3)))}/${file}`))
})

test("they are listed in the order of their files, each with all that is in it", async () => {
  const modules = paths.map((path) => import(join(import.meta.dirname, path)) as Promise<Record<string, unknown>>)
  const inFiles = (await Promise.all(modules)).flatMap((module) => Object.values(module))
  expect(migrations).toEqual(inFiles)
})

test("a migration is called as its file is, but for two whose names are older than their numbers", () => {
  const named = files.map((file) => renumbered[file] ?? file.replace(/\.ts$/, "").replaceAll("-", "_"))
  expect(migrations.map(({ name }) => name)).toEqual(named)
})

test("no name that databases remember is changed or left out", () => {
  expect(migrations.map(({ name }) => name)).toEqual(remembered)
})

/** Since this one, nodes of the version before work on the new schema until they are replaced. */
const SIDE_BY_SIDE = "038_what_needs_a_newer_version"

describe("a migration that does not say that it needs a newer version", () => {
  const since = migrations.slice(migrations.findIndex(({ name }) => name === SIDE_BY_SIDE))
  const plain = since.filter(({ needs }) => needs === undefined)

  test.each(plain.flatMap((step) => ("statements" in step ? [step] : [])))("$name only adds", ({ statements }) => {
    for (const words of [sqliteWords, postgresWords]) expect(unfitIn(statements(words))).toEqual([])
  })

  test.each(plain.flatMap((step) => ("index" in step ? [step] : [])))("$name forbids nothing", ({ index }) => {
    expect(index.unique).toBeUndefined()
  })

  test.each([
    ["ALTER TABLE node ADD COLUMN colour TEXT", true],
    ["ALTER TABLE node ADD COLUMN colour TEXT NOT NULL DEFAULT 'red'", true],
    ["ALTER TABLE node ADD COLUMN colour TEXT NOT NULL", false],
    ["ALTER TABLE node ADD COLUMN colour TEXT UNIQUE", false],
    ["ALTER TABLE node DROP COLUMN beats", false],
    ["ALTER TABLE node RENAME TO machine", false],
    ["DROP TABLE node", false],
    // Whoever asked it answers without, only later; what keeps rows apart stays.
    ["DROP INDEX proposal_open", true],
    ["DROP INDEX event_place", false],
    ["DROP INDEX IF EXISTS event_place", false],
    ["UPDATE node SET beats = 0", false],
    // Those who write to it wait until the index is built: that is what an index step is for.
    ["CREATE INDEX event_at ON event (at)", false],
    // A node that does not know the new table would find that it cannot delete its own rows.
    ["CREATE TABLE pet (person BIGINT NOT NULL REFERENCES person (key))", false],
    ["CREATE TABLE pet (person BIGINT NOT NULL REFERENCES person (key) ON DELETE CASCADE)", true],
  ])("may hold %s: %s", (sql, fits) => {
    expect(unfitIn([sql])).toEqual(fits ? [] : [sql])
  })

  test("may say anew what a view shows, but not take it away", () => {
    const anew = "CREATE VIEW runs AS SELECT id FROM run"
    expect(unfitIn(["DROP VIEW runs", anew])).toEqual([])
    expect(unfitIn(["CREATE OR REPLACE VIEW runs AS SELECT id FROM run"])).toEqual([])
    expect(unfitIn(["DROP VIEW runs"])).toEqual(["DROP VIEW runs"])
    expect(unfitIn(["DROP VIEW messages", anew])).toEqual(["DROP VIEW messages"])
  })

  test("may index a table of its own", () => {
    expect(unfitIn(["CREATE TABLE pet (name TEXT)", "CREATE UNIQUE INDEX pet_name ON pet (name)"])).toEqual([])
  })
})

function uniqueIndexes(): Set<string | undefined> {
  const all = migrations.flatMap((step) => ("statements" in step ? step.statements(sqliteWords) : []))
  return new Set(all.map((sql) => /^CREATE UNIQUE INDEX (\w+)/.exec(sql)?.[1]))
}

/** Statements after which a node that does not know of them would not work as before. */
function unfitIn(statements: readonly string[]): string[] {
  const own = new Set(statements.flatMap((sql) => /^CREATE (?:UNLOGGED )? *TABLE (\w+)/.exec(sql)?.[1] ?? []))
  const views = new Set(statements.flatMap((sql) => /^CREATE VIEW (\w+)/.exec(sql)?.[1] ?? []))
  const isOwn = (table: string | undefined) => table !== undefined && own.has(table)
  return statements.filter((sql) => {
    if (/^CREATE (UNLOGGED )? *TABLE /.test(sql))
      return /REFERENCES \w+ \(\w+\)(?! ON DELETE (CASCADE|SET NULL))/.test(sql)
    if (/^CREATE (UNIQUE )?INDEX /.test(sql)) return !isOwn(/ ON (\w+)/.exec(sql)?.[1])
    if (/^CREATE (OR REPLACE )?VIEW /.test(sql)) return false
    const [, index] = /^DROP INDEX (?:IF EXISTS )?(\w+)$/.exec(sql) ?? []
    if (index !== undefined) return uniqueIndexes().has(index)
    if (sql.startsWith("DROP VIEW ")) return !views.has(sql.slice("DROP VIEW ".length))
    const [, table, what = ""] = /^ALTER TABLE (\w+) (.*)$/s.exec(sql) ?? []
    if (isOwn(table)) return false
    return (
      !/^ADD COLUMN \w+ [A-Z ]+$/.test(what.replace(/ NOT NULL DEFAULT .*$/, "")) ||
      /NOT NULL$|UNIQUE|REFERENCES/.test(what)
    )
  })
}

describe.each(databases)("on $name", ({ name, createEmpty }) => {
  test("a database in use, which remembers them all, is left as it is", async () => {
    await using database = await createEmpty()
    const { url } = database
    const onSqlite = url.startsWith("file:")
    const engine = onSqlite
      ? openSqlite({ file: url.slice("file:".length), durability: "normal" })
      : openPostgres({ url, durability: "normal", connections: 2 })
    const values = remembered.map((each) => `('${each}')`).join(", ")
    const statements = [
      { sql: "CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY)", values: [] },
      { sql: `INSERT INTO migration (name) VALUES ${values}`, values: [] },
    ]
    await engine.change({ type: "statements", statements })
    expect(await migrate(engine, onSqlite ? sqliteWords : postgresWords), name).toEqual([])
    await engine.close()
  })
})
