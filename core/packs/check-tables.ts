import type { PackMigration, PackTable } from "../engine/pack-services.ts"

/** The statements that a migration may contain, with the name they apply to. */
const STEP =
  /^(?:CREATE TABLE(?: IF NOT EXISTS)?|ALTER TABLE|DROP TABLE(?: IF EXISTS)?|CREATE(?: UNIQUE)? INDEX(?: IF NOT EXISTS)?|DROP INDEX(?: IF EXISTS)?|INSERT INTO|UPDATE|DELETE FROM) (\w+)/i

/** The fault in a pack's tables or migrations as a sentence; undefined if there is none. */
export function findTableFault(
  pack: string,
  tables: readonly PackTable[],
  migrations: readonly PackMigration[],
): string | undefined {
  const prefix = `pack_${pack}_`
  const strange = tables.find(({ name }) => !name.startsWith(prefix))
  if (strange) return `its table ${strange.name} must be called ${prefix}…`
  const twice = repeated(tables.map(({ name }) => name)) ?? repeated(migrations.map(({ name }) => name))
  if (twice) return `it has ${twice} twice among its tables or migrations`
  for (const { name, statements } of migrations) {
    for (const statement of listOf(statements)) {
      const fault = findStatementFault(plain(statement), prefix, tables)
      if (fault) return `its migration ${name}: ${fault}`
    }
  }
  const created = tablesCreatedBy(migrations)
  const uncreated = tables.find(({ name }) => !created.has(name))
  if (uncreated) return `no migration of it makes its table ${uncreated.name}`
  const undeclared = [...created].find((name) => !tables.some((table) => table.name === name))
  // An undeclared table would be neither exported nor erased.
  if (undeclared) return `its migrations make ${undeclared}, and its tables do not say whose rows are in there`
  return undefined
}

function findStatementFault(sql: string, prefix: string, tables: readonly PackTable[]): string | undefined {
  const shown = `"${sql.slice(0, 60)}"`
  const target = STEP.exec(sql)?.[1]
  if (!target) return `${shown} neither makes, changes nor drops a table or an index, nor its rows`
  if (sql.includes(";")) return `${shown} has a semicolon; each statement is an entry of its own`
  if (!target.startsWith(prefix)) return `${shown} is about ${target}; names of this pack begin with ${prefix}`
  // Export and erasure find rows by table name.
  if (/^ALTER TABLE \w+ RENAME TO/i.test(sql)) return `${shown} renames a table; make a new one and copy its rows`
  if (!/^CREATE TABLE/i.test(sql)) return undefined
  const table = tables.find(({ name }) => name === target)
  // A table that a later migration drops need not be declared.
  if (!table) return undefined
  if (!hasText(sql, "id")) return `${target} needs a column "id TEXT NOT NULL"`
  if ("person" in table && !hasText(sql, table.person))
    return `${target} needs a column "${table.person} TEXT NOT NULL"`
  return undefined
}

function hasText(sql: string, column: string): boolean {
  const tight = sql.toLowerCase().replaceAll("( ", "(").replaceAll(", ", ",")
  return ["(", ","].some((before) => tight.includes(`${before}${column} text not null`))
}

/** Tables that a migration creates and no later one drops. */
function tablesCreatedBy(migrations: readonly PackMigration[]): Set<string> {
  const created = new Set<string>()
  for (const sql of migrations.flatMap(({ statements }) => listOf(statements)).map(plain)) {
    const target = STEP.exec(sql)?.[1] ?? ""
    if (/^CREATE TABLE/i.test(sql)) created.add(target)
    if (/^DROP TABLE/i.test(sql)) created.delete(target)
  }
  return created
}

const listOf = (statements: PackMigration["statements"]): readonly string[] =>
  "sqlite" in statements ? [...statements.sqlite, ...statements.postgres] : statements

/** On one line with single spaces. */
const plain = (sql: string): string => sql.trim().replace(/;$/, "").split(/\s+/).join(" ")

const repeated = (names: readonly string[]): string | undefined => names.find((name, at) => names.indexOf(name) !== at)
