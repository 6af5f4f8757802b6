import { z } from "zod"
import { failure } from "../../protocol/errors.ts"
import { viewNames } from "../../protocol/conversation/tool-calls.ts"
import type { Pack, PackServices } from "../pack.ts"
import { faultInTables } from "./sql-rules.ts"

const column = z.string().regex(/^[a-z][a-z0-9_]{0,62}$/, "a column's name: small letters, digits and underscores")
const table = z
  .string()
  .regex(/^pack_[a-z0-9_]{1,55}$/, "a table's name: pack_, the pack's own name, and what it holds")

const Table = z.union([
  z.strictObject({ name: table, person: column, exported: z.array(column).min(1).max(100) }),
  z.strictObject({ name: table, shared: z.string().min(1).max(500) }),
])

const Statements = z.array(z.string().min(1)).min(1).max(1000)

const Migration = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9_-]{0,99}$/, "a migration's name, such as 001_loans"),
  statements: z.union([Statements, z.strictObject({ sqlite: Statements, postgres: Statements })]),
})

/** What the default export of a pack has to be. Strict: what nobody would read is a slip, and worth being told. */
const Shape = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9]{0,29}$/, "a pack's name: up to 30 small letters and digits, a letter first"),
  needs: z
    .strictObject({
      tables: z.array(Table).max(100).optional(),
      migrations: z.array(Migration).max(1000).optional(),
      views: z.array(z.enum(viewNames)).optional(),
    })
    .optional(),
  open: z.custom<Pack["open"]>((value) => typeof value === "function", "must be a function"),
})

/** Takes what a module exports for a pack, or refuses it with everything that is wrong with it. */
export function checkPack(named: string, exported: unknown): Pack<PackServices> {
  const read = Shape.safeParse(exported)
  if (!read.success) throw packRefused(named, `its default export is no pack: ${problemsOf(read.error)}`, USE_DEFINE)
  const { name, needs: { tables = [], migrations = [] } = {} } = read.data
  const fault = faultInTables(name, tables, migrations)
  if (fault) throw packRefused(named, fault, "docs/recipes/write-a-pack.md shows how tables are made")
  return exported as Pack<PackServices>
}

const USE_DEFINE = "`export default definePack({ name, open })` makes one (docs/recipes/write-a-pack.md)"

export const packRefused = (pack: string, problem: string, todo: string): Error =>
  failure("pack_refused", { pack, problem, todo })

export function problemsOf(error: z.ZodError): string {
  const shown = error.issues.slice(0, 5).map(({ path, message }) => {
    const field = path.map(String).join(".")
    return field ? `${field}: ${message}` : message
  })
  return shown.join("; ")
}

/** What somebody else's code has thrown, in one line. */
export const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    .split("\n", 1)
    .join("")
    .replace(/\.$/, "")
    .slice(0, 500)
