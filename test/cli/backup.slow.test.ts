import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { expect, test, vi } from "vitest"
import { openStore } from "../../core/store/store.ts"
import { large, namesIn, newFolder } from "../support/message-files/files-world.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess, pawl } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"

vi.setConfig({ testTimeout: 180_000 })

/** Progress is printed twice a second, so a small database prints none unless the machine is slow. */
const NOTHING_BUT_PROGRESS = expect.stringMatching(/^(?:[\d.]+ [kM]B of [\d.]+ [kM]B copied\n)*$/)

async function serve(environment: Record<string, string>) {
  const server = new PawlProcess(["serve"], { PAWL_PORT: "0", ...environment })
  const [, url] = await server.says(/listening on (\S+)\n/)
  return Object.assign(server, { ada: new Visitor(fetch, await tokenFor(environment), url) })
}

/** Writes conversations without a pause until stopped. Returns those that were acknowledged. */
function writing(ada: Visitor) {
  const acknowledged: { id: string; at: number }[] = []
  let going = true
  const lane = async () => {
    while (going) {
      const id = await ada.begin({ title: "x".repeat(200) })
      if ((await ada.say(id, "list my tasks")).status === 200) acknowledged.push({ id, at: Date.now() })
    }
  }
  const lanes = Promise.all([lane(), lane(), lane()])
  return {
    acknowledged,
    async stop() {
      going = false
      await lanes
    },
  }
}

test("a copy made under load is whole: it has all that was acknowledged before it started, and nothing half", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  await using server = await serve(environment)
  const load = writing(server.ada)
  await expect.poll(() => load.acknowledged.length, { timeout: 90_000 }).toBeGreaterThan(50)
  const began = Date.now()
  const before = load.acknowledged.map(({ id }) => id)
  const to = join(dataFolder(), "copy.db")
  const made = await pawl(["backup", to], environment)
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(to)])
  const during = load.acknowledged.filter(({ at }) => at > began).length
  await load.stop()
  expect(during, "the server must have gone on meanwhile").toBeGreaterThan(0)
  expect(statSync(to).mode & 0o777).toBe(0o600)
  expect(readdirSync(dirname(to)), "nothing else is left").toEqual([basename(to)])

  const copy = new DatabaseSync(to)
  expect(copy.prepare("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" })
  const known = new Set(
    copy
      .prepare("SELECT id FROM conversation")
      .all()
      .map(({ id }) => id),
  )
  expect(before.filter((id) => !known.has(id))).toEqual([])
  copy.close()
  // More than a file that SQLite reads: Pawl opens it, and every journal can be reduced.
  await using store = await openStore({ url: `file:${to}` })
  const gaps = "SELECT conversation FROM event GROUP BY conversation HAVING max(position) <> count(*)"
  expect(await store.engine.query(gaps, [])).toEqual([])
  for (const id of before) expect((await store.journal.load(id as never)).run?.status).toBe("completed")
})

test("it overwrites nothing, and says what to do on PostgreSQL and if there is no database", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  const to = join(dataFolder(), "copy.db")
  const missing = await command(["backup", to], environment)
  expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining("There is no database at")])
  await command(["migrate"], environment)
  writeFileSync(to, "mine")
  const refused = await command(["backup", to], environment)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("already exists")])
  expect(statSync(to).size).toBe(4)
  const nowhere = await command(["backup", join(to, "copy.db")], environment)
  expect([nowhere.code, nowhere.stderr]).toEqual([
    1,
    expect.stringMatching(/^pawl: The backup to .*copy\.db failed: /m),
  ])
  const postgres = await command(["backup", to], { ...environment, DATABASE_URL: "postgres://u:hunter2@127.0.0.1:1/x" })
  expect([postgres.code, postgres.stderr]).toEqual([1, expect.stringContaining("pg_dump")])
  expect(postgres.stderr).not.toContain("hunter2")
  // A server that was stopped has left no log next to its database.
  const stopped = await pawl(["backup", `${to}2`], environment)
  expect([stopped.code, stopped.stderr]).toEqual([0, NOTHING_BUT_PROGRESS])
})

test("a backup that is killed leaves no file of that name", async () => {
  const environment = { PAWL_DATA: dataFolder() }
  await command(["migrate"], environment)
  const db = new DatabaseSync(join(environment.PAWL_DATA, "pawl.db"))
  db.exec("CREATE TABLE ballast (text TEXT)")
  db.exec(
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO ballast SELECT hex(randomblob(20000)) FROM n",
  )
  db.close()
  const folder = dataFolder()
  const to = join(folder, "copy.db")
  await using backup = new PawlProcess(["backup", to], environment)
  const partial = () =>
    readdirSync(folder).find((name) => name.endsWith(".partial") && statSync(join(folder, name)).size > 100_000)
  await expect.poll(partial, { interval: 5, timeout: 90_000 }).toBeDefined()
  expect((await backup.kill("SIGKILL")).code).toBe(null)
  expect(readdirSync(folder)).not.toContain("copy.db")
  const again = await pawl(["backup", to], environment)
  expect([again.code, statSync(to).size]).toEqual([0, expect.toSatisfy((size: number) => size > 100_000_000)])
})

test("files in a folder are part of the backup, and `doctor` says where they are or what to set", async () => {
  const environment = { PAWL_DATA: dataFolder(), PAWL_FILES_FOLDER: newFolder() }
  await command(["migrate"], environment)
  const url = `file:${join(environment.PAWL_DATA, "pawl.db")}`
  await using store = await openStore({ url, filesFolder: environment.PAWL_FILES_FOLDER })
  const { id: ada } = await store.people.ensure("ada", Date.now())
  await store.messageFiles.keep(ada, large("x"), 1e9)
  const to = join(dataFolder(), "copy.db")
  const made = await command(["backup", to], environment)
  expect([made.code, made.stdout]).toEqual([0, expect.stringContaining(`${to}.files (1 file, 1.0 MB)`)])
  expect(namesIn(`${to}.files`)).toEqual(namesIn(environment.PAWL_FILES_FOLDER))
  const lacking = await command(["backup", `${to}2`], { PAWL_DATA: environment.PAWL_DATA })
  expect([lacking.code, lacking.stderr]).toEqual([1, expect.stringContaining("set PAWL_FILES_FOLDER")])
  expect(existsSync(`${to}2`)).toBe(false)

  const well = await command(["doctor"], environment)
  expect([well.code, well.stdout]).toEqual([
    0,
    expect.stringMatching(/^ok {4}attachments: 1 file larger than 1 MB in .* \(1\.0 MB\)$/m),
  ])
  const unnamed = await command(["doctor"], { PAWL_DATA: environment.PAWL_DATA })
  expect([unnamed.code, unnamed.stdout]).toEqual([
    1,
    expect.stringMatching(/^wrong attachments: 1 file .* set PAWL_FILES_FOLDER to it$/m),
  ])
  const other = await command(["doctor"], { ...environment, PAWL_FILES_FOLDER: newFolder() })
  expect([other.code, other.stdout]).toEqual([
    1,
    expect.stringMatching(/^wrong The folder for files .* Check that its disk is mounted/m),
  ])
  for (const name of namesIn(environment.PAWL_FILES_FOLDER)) rmSync(join(environment.PAWL_FILES_FOLDER, name))
  const lost = await command(["doctor"], environment)
  expect([lost.code, lost.stdout]).toEqual([1, expect.stringMatching(/^wrong attachments: 1 file missing in/m)])
})
