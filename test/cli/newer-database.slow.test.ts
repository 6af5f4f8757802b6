import { writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { join } from "node:path"
import { describe, expect, test, vi } from "vitest"
import { openStore } from "../../core/store/store.ts"
import { databases } from "../support/databases.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"

vi.setConfig({ testTimeout: 120_000 })

const STACK = /\n\s+at /

/** Inputs that a command needs besides the store, so that it gets as far as reading it. */
const inputs = { file: join(dataFolder(), "paper.md") }
writeFileSync(inputs.file, "# A paper\n\nOf one sentence.")

const commands = [
  ["serve", "--port", "0"],
  ["exec", "--agent", "workspace", "list my tasks"],
  ["invite", "--user", "bob"],
  ["token", "create", "--user", "bob"],
  ["show"],
  ["replay", "run_1"],
  ["mcp"],
  ["ingest", inputs.file],
  ["doctor"],
]

describe.each(databases)("on $name, a database that a newer Pawl has changed", (database) => {
  /** The newer version recorded whether this one is compatible with its migration. */
  async function changed(needs: string | null) {
    const isFile = database.name === "sqlite"
    const PAWL_DATA = dataFolder()
    const url = isFile ? `file:${join(PAWL_DATA, "pawl.db")}` : (await database.create()).url
    await using store = await openStore({ url })
    const step = { sql: "INSERT INTO migration (name, needs) VALUES (?, ?)", values: ["999_future", needs] }
    const renames = ["person", "conversation"].map((table) => `ALTER TABLE ${table} RENAME TO ${table}_of_999`)
    const statements = [step, ...renames.map((sql) => ({ sql, values: [] }))]
    expect(await store.engine.change({ type: "statements", statements })).toMatchObject({ ok: true })
    return { PAWL_DATA, ...(isFile ? {} : { DATABASE_URL: url }) }
  }

  test.each([
    { said: "that this version cannot serve", needs: "9.9.9", sentence: /Start Pawl 9\.9\.9 or newer/ },
    {
      said: "that only adds, though it does not",
      needs: null,
      sentence: /A newer Pawl has changed this database \(999_future\)/,
    },
  ])("in a way $said is refused in a sentence by every command", async ({ needs, sentence }) => {
    const environment = await changed(needs)
    for (const words of commands) {
      const { code, stdout, stderr } = await pawl(words, environment, "")
      expect([words[0], `${stdout}${stderr}`]).toEqual([words[0], expect.stringMatching(sentence)])
      expect([words[0], `${stdout}${stderr}`]).not.toEqual([words[0], expect.stringMatching(STACK)])
      expect([words[0], code]).toEqual([words[0], 1])
    }
  })
})

test("a database of a checkout before 0.1.0 is refused in a sentence by every command", async () => {
  const PAWL_DATA = dataFolder()
  using db = new DatabaseSync(join(PAWL_DATA, "pawl.db"))
  db.exec("CREATE TABLE migration (name TEXT NOT NULL PRIMARY KEY); INSERT INTO migration VALUES ('001_journal')")
  for (const words of [...commands, ["migrate"]]) {
    const { code, stdout, stderr } = await pawl(words, { PAWL_DATA }, "")
    expect([words[0], `${stdout}${stderr}`]).toEqual([
      words[0],
      expect.stringMatching(/from before 0\.1\.0.*pawl export/),
    ])
    expect([words[0], `${stdout}${stderr}`]).not.toEqual([words[0], expect.stringMatching(STACK)])
    expect([words[0], code]).toEqual([words[0], 1])
  }
})

test.each([
  {
    what: "that a newer Pawl has written",
    fill: (db: DatabaseSync) => db.exec("PRAGMA user_version = 99"),
    says: /written by a newer Pawl/,
  },
  { what: "that is no database", fill: undefined, says: /cannot be opened: the file is not a SQLite database/ },
])("a device reports a file $what in a sentence", async ({ fill, says }) => {
  const file = join(dataFolder(), "device.db")
  if (fill) {
    using db = new DatabaseSync(file)
    fill(db)
  } else writeFileSync(file, "no database, but long enough to be taken for one ".repeat(10))
  const words = ["device", "--db", file, "--server", "http://127.0.0.1:1"]
  const { code, stderr } = await pawl(words, { PAWL_DATA: dataFolder(), PAWL_TOKEN: "pawl_x" })
  expect(stderr).toMatch(says)
  expect(stderr).not.toMatch(STACK)
  expect(code).toBe(1)
})
