import { readdirSync } from "node:fs"
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
]

/** Files that got another number after databases had remembered their names. */
const renumbered: Readonly<Record<string, string>> = {
  "012-connections.ts": "013_connections",
  "013-conversation-connection.ts": "014_conversation_connection",
}

const files = readdirSync(import.meta.dirname)
  .filter((file) => /^\d/.test(file))
  .sort()

test("the files of migrations are numbered from 1 on, without a hole and without a double", () => {
  expect(files.map((file) => file.slice(0, 4))).toEqual(
    files.map((_, index) => `${String(index + 1).padStart(3, "0")}-`),
  )
})

test("they are listed in the order of their files, each with all that is in it", async () => {
  const names = files.map((file) => file.replace(/\.ts$/, ""))
  const modules = names.map((name) => import(`./${name}.ts`) as Promise<Record<string, unknown>>)
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
