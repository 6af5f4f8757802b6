import { randomBytes } from "node:crypto"
import pg from "pg"
import { describe, expect, test, vi } from "vitest"
import { command } from "../support/processes/commands.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { databases } from "../support/databases.ts"

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const postgres = databases.find(({ name }) => name === "postgres") as (typeof databases)[number]
const SAYS_SO = /synchronous_commit is off/

/** A database with a role of its own, so that the settings of either affect no other test. */
async function ownRole() {
  const database = await postgres.createEmpty()
  const name = new URL(database.url).pathname.slice(1)
  const role = `forgetful_${randomBytes(6).toString("hex")}`
  const password = randomBytes(12).toString("hex")
  const asAdmin = async (...statements: string[]) => {
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    for (const statement of statements) await client.query(statement)
    await client.end()
  }
  await asAdmin(`CREATE ROLE ${role} LOGIN PASSWORD '${password}'`, `ALTER DATABASE ${name} OWNER TO ${role}`)
  const end = async () => {
    await asAdmin(`ALTER DATABASE ${name} OWNER TO CURRENT_USER`, `REASSIGN OWNED BY ${role} TO CURRENT_USER`)
    await asAdmin(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`)
    await database[Symbol.asyncDispose]()
  }
  const url = new URL(database.url)
  url.username = role
  url.password = password
  const environment = { PAWL_DATA: dataFolder(), DATABASE_URL: url.href, PAWL_PORT: "0" }
  return { environment, asAdmin, name, role, [Symbol.asyncDispose]: end }
}

interface Heard {
  readonly doctor: { readonly code: number | null; readonly says: boolean; readonly names: boolean }
  readonly start: boolean
  readonly ready: { readonly status: number; readonly says: boolean }
}

/** The output of the commands about it, as an operator sees it. */
async function ask(environment: Record<string, string>): Promise<Heard> {
  const { code, stdout } = await command(["doctor"], environment)
  const doctor = { code, says: SAYS_SO.test(stdout), names: /^wrong +synchronous_commit/m.test(stdout) }
  await using server = new PawlProcess(["serve"], environment)
  const [, url] = await server.says(/listening on (\S+)\n/)
  const response = await fetch(`${url}/readyz`)
  const ready = { status: response.status, says: SAYS_SO.test(await response.text()) }
  const { stderr } = await server.kill("SIGTERM")
  return { doctor, ready, start: /^warning: synchronous_commit is off/m.test(stderr) }
}

const NOTICED = { doctor: { code: 1, says: true, names: true }, start: true, ready: { status: 200, says: true } }
const SILENT = { doctor: { says: false, names: false }, start: false, ready: { status: 200, says: false } }

describe.runIf(postgres)("a PostgreSQL that acknowledges before it has written", () => {
  test.concurrent.each(["role", "database"] as const)(
    "is reported by doctor, at the start and by readyz if it is set for the %s",
    async (where) => {
      await using owned = await ownRole()
      const { environment, asAdmin, name, role } = owned
      // One runs before, the other after: with the default, and after a reset to it.
      if (where === "role") expect(await ask(environment)).toMatchObject(SILENT)
      const what = where === "role" ? `ROLE ${role}` : `DATABASE ${name}`
      await asAdmin(`ALTER ${what} SET synchronous_commit = off`)
      expect(await ask(environment)).toEqual(NOTICED)
      // An operator who has confirmed the setting gets no warning.
      if (where === "role")
        return expect(await ask({ ...environment, PAWL_DURABILITY: "normal" })).toMatchObject(SILENT)
      await asAdmin(`ALTER ${what} RESET synchronous_commit`)
      expect(await ask(environment)).toMatchObject(SILENT)
    },
  )
})
