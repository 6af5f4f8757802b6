import type { PackMigration, PackTable } from "../../engine/pack-services.ts"

/** What a migration may do, and to what: the name behind these words. */
const STEP =
  /^(?:CREATE TABLE(?: IF NOT EXISTS)?|ALTER TABLE|DROP TABLE(?: IF EXISTS)?|CREATE(?: UNIQUE)? INDEX(?: IF NOT EXISTS)?|DROP INDEX(?: IF EXISTS)?|INSERT INTO|UPDATE|DELETE FROM) (\w+)/i

/** What is wrong with the tables of a pack and the steps that make them, as a sentence; undefined where nothing is. */
export function faultInTables(
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
    for (const given of listOf(statements)) {
      const fault = faultInStep(plain(given), prefix, tables)
      if (fault) return `its migration ${name}: ${fault}`
    }
  }
  const made = madeBy(migrations)
  const unmade = tables.find(({ name }) => !made.has(name))
  if (unmade) return `no migration of it makes its table ${unmade.name}`
  const untold = [...made].find((name) => !tables.some((table) => table.name === name))
  // What nobody knows of is neither exported nor erased.
  if (untold) return `its migrations make ${untold}, and its tables do not say whose rows are in there`
  return undefined
}

function faultInStep(sql: string, prefix: string, tables: readonly PackTable[]): string | undefined {
  const shown = `"${sql.slice(0, 60)}"`
  const target = STEP.exec(sql)?.[1]
  if (!target) return `${shown} neither makes, changes nor drops a table or an index, nor its rows`
  if (sql.includes(";")) return `${shown} has a semicolon; each statement is an entry of its own`
  if (!target.startsWith(prefix)) return `${shown} is about ${target}; names of this pack begin with ${prefix}`
  // The register by which people's rows are exported and erased goes by names.
  if (/^ALTER TABLE \w+ RENAME TO/i.test(sql)) return `${shown} renames a table; make a new one and copy its rows`
  if (!/^CREATE TABLE/i.test(sql)) return undefined
  const table = tables.find(({ name }) => name === target)
  // One that a later step drops need not be among them any more, and nobody can say what it was like.
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

/** Tables that a step makes and no later one drops. */
function madeBy(migrations: readonly PackMigration[]): Set<string> {
  const made = new Set<string>()
  for (const sql of migrations.flatMap(({ statements }) => listOf(statements)).map(plain)) {
    const target = STEP.exec(sql)?.[1] ?? ""
    if (/^CREATE TABLE/i.test(sql)) made.add(target)
    if (/^DROP TABLE/i.test(sql)) made.delete(target)
  }
  return made
}

const listOf = (statements: PackMigration["statements"]): readonly string[] =>
  "sqlite" in statements ? [...statements.sqlite, ...statements.postgres] : statements

/** In one line, with one space between words. */
const plain = (sql: string): string => sql.trim().replace(/;$/, "").split(/\s+/).join(" ")

const repeated = (names: readonly string[]): string | undefined => names.find((name, at) => names.indexOf(name) !== at)
