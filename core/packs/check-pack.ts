import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import { viewNames } from "../protocol/conversation/tool-calls.ts"
import { scopes } from "../protocol/account/sign-in.ts"
import type { OpenedPack, Pack, PackServices } from "./pack.ts"
import { findTableFault } from "./check-tables.ts"

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

/** The default export of a pack. Strict, because an unknown field is a mistake. */
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

/** Validates a module's default export. Throws `pack_refused` with every fault. */
export function checkPack(named: string, exported: unknown): Pack<PackServices> {
  const read = Shape.safeParse(exported)
  if (!read.success) throw packRefused(named, `its default export is no pack: ${problemsOf(read.error)}`, USE_DEFINE)
  const { name, needs: { tables = [], migrations = [] } = {} } = read.data
  const fault = findTableFault(name, tables, migrations)
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

/** The error of third-party code in one line. */
export const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error)
    .split("\n", 1)
    .join("")
    .replace(/\.$/, "")
    .slice(0, 500)

const isSchema = (value: unknown): boolean => {
  try {
    // Conversion also detects schemas that cannot be printed, which would break the whole API reference.
    return z.toJSONSchema(value as z.ZodType, { unrepresentable: "any" }) !== undefined
  } catch {
    return false
  }
}

const schema = z.custom<z.ZodType>(isSchema, "must be a schema of zod 4 that can be written as JSON Schema")
const method = <Kind>(what: string) => z.custom<Kind>((value) => typeof value === "function", what)

const Route = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: z.string().regex(/^(?:\/(?:[a-z0-9-]+|\{[a-zA-Z]\w*\}))+$/, "a path such as /loans or /loans/{id}"),
  needs: z.enum(scopes).exclude(["self-approve"]),
  says: z.string().min(1).max(500),
  query: schema.optional(),
  body: schema.optional(),
  answer: schema.nullable(),
  handle: method("must be a function"),
})

const Agent = z.looseObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "an agent's name: small letters, digits, - and _"),
  description: z.string().min(1),
  instructions: z.string(),
  tools: z.custom((value) => typeof (value as { visibleIn?: unknown } | null)?.visibleIn === "function", {
    error: "use defineAgent of pawl to make the agent",
  }),
})

const Opened = z.strictObject({
  agents: z.array(Agent).max(100),
  routes: z.record(z.string().regex(/^[a-z]\w{0,63}$/, "a route's name, such as listLoans"), Route).optional(),
  close: method("must be a function").optional(),
})

/** Validates what a pack's `open` returned. Throws `pack_refused` with every fault. */
export function checkOpened(named: string, opened: unknown): OpenedPack {
  const read = Opened.safeParse(opened)
  if (!read.success)
    throw packRefused(
      named,
      `what it opens is not right: ${problemsOf(read.error)}`,
      "docs/recipes/write-a-pack.md shows what open() gives back",
    )
  const addresses = Object.values(read.data.routes ?? {}).map(
    ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`,
  )
  const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
  if (twice) throw packRefused(named, `two of its routes are ${twice}`, "give one of them another path")
  return opened as OpenedPack
}
