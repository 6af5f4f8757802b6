import { readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test, vi } from "vitest"
import { databases } from "../support/databases.ts"
import { dataFolder, pawl } from "../support/processes/pawl-process.ts"

vi.setConfig({ testTimeout: 120_000 })

/** An environment with a new database. */
async function newServer(database: (typeof databases)[number]) {
  const PAWL_DATA = dataFolder()
  return { PAWL_DATA, ...(database.name === "sqlite" ? {} : { DATABASE_URL: (await database.create()).url }) }
}

describe.each(databases)("pawl export and pawl import on $name", (database) => {
  test("move a server, refuse what does not fit, and report what they did", async () => {
    const [old, other] = [await newServer(database), await newServer(database)]
    await pawl(["exec", "--agent", "workspace", "add a task to buy milk"], old, "")
    expect((await pawl(["invite", "--user", "ada"], old)).code).toBe(0)
    const file = join(old.PAWL_DATA, "pawl.jsonl")

    const written = await pawl(["export", file], old)
    expect([written.code, written.stdout]).toEqual([0, expect.stringMatching(/pawl\.jsonl \(\d+ lines, \d/)])
    expect(statSync(file).mode & 0o077).toBe(0)
    const again = await pawl(["export", file], old)
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("already exists")])
    const nobody = await pawl(["export", "--user", "eve", `${file}2`], old)
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining("There is no person eve.")])

    const moved = await pawl(["import", file], other)
    expect([moved.code, moved.stdout]).toEqual([0, expect.stringMatching(/^Imported \d (person|people), \d conv/)])
    expect((await pawl(["import", file], other)).stdout).toBe(moved.stdout)
    const next = join(other.PAWL_DATA, "next.jsonl")
    expect((await pawl(["export", next], other)).code).toBe(0)
    const people = (path: string) => /"name":"ada"/.test(readFileSync(path, "utf8"))
    expect([people(file), people(next)]).toEqual([true, true])

    writeFileSync(join(other.PAWL_DATA, "bad.jsonl"), `${readFileSync(file, "utf8").split("\n")[0]}\n{"evil":1}\n`)
    const refused = await pawl(["import", join(other.PAWL_DATA, "bad.jsonl")], other)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/bad\.jsonl cannot be imported. Line 2: /),
    ])
    const missing = await pawl(["import", join(other.PAWL_DATA, "none.jsonl")], other)
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("none.jsonl cannot be read")])
  })
})

test("a database of the last checkout before 0.1.0 is exported as it is, and can be imported into a new one", async () => {
  const [old, other] = [{ PAWL_DATA: dataFolder() }, { PAWL_DATA: dataFolder() }]
  await pawl(["invite", "--user", "ada"], old)
  using db = new DatabaseSync(join(old.PAWL_DATA, "pawl.db"))
  db.exec("DELETE FROM migration WHERE name <> '001_schema'")
  db.exec("UPDATE migration SET name = '001_journal'; INSERT INTO migration (name) VALUES ('072_models_per_client')")
  const file = join(old.PAWL_DATA, "pawl.jsonl")
  expect((await pawl(["invite", "--user", "bob"], old)).stderr).toContain("pawl export")
  expect((await pawl(["export", file], old)).code).toBe(0)
  expect(db.prepare("SELECT count(*) AS n FROM migration").get()).toEqual({ n: 2 })
  const { code, stdout } = await pawl(["import", file], other)
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Imported 1 person, 0 conversations/)])
})
