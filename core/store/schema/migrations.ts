import type { NewIndex } from "../engine/schema-syntax.ts"
import type { SchemaSyntax } from "../engine/schema-syntax.ts"
import { countedTables } from "../storage/counted-tables.ts"
import { contentTables } from "./content-tables.ts"
import { conversationTables, conversationViews } from "./conversation-tables.ts"
import { peopleTables } from "./people-tables.ts"

/**
 * One step of the schema. Databases record its `name`, so a released name never changes.
 *
 * While a cluster is upgraded, nodes of the previous version work on the new schema. So a step only adds: tables, and
 * columns that may be left out. A later version removes what no node uses any more.
 */
export type Migration = StatementsStep | IndexStep

interface Step {
  readonly name: string
  /** The oldest version that can work with the result. Older nodes then refuse to start and name it. */
  readonly needs?: string
}

/** Plain SQL that both engines understand, applied in one transaction with the steps next to it. */
export interface StatementsStep extends Step {
  statements(syntax: SchemaSyntax): readonly string[]
}

/** An index on a table that may be large: PostgreSQL builds it outside a transaction, while others write. */
export interface IndexStep extends Step {
  readonly index: NewIndex
}

/** Every database of 0.1.0 and later has recorded it. */
export const FIRST_MIGRATION = "001_schema"

/** Every table, index, view and trigger of version 0.1.0. Later changes are separate migrations. */
const schema: Migration = {
  name: FIRST_MIGRATION,
  statements: (syntax) => [
    ...conversationTables(syntax),
    ...peopleTables(syntax),
    ...contentTables(syntax),
    ...conversationViews,
    ...syntax.byteCounts.makeTables,
    ...countedTables.flatMap((table) => syntax.byteCounts.triggers(table)),
  ],
}

/** The run that a sub-agent's model calls count for, besides their own. */
const rootRuns: Migration = {
  name: "002_root_runs",
  statements: () => ["ALTER TABLE usage ADD COLUMN root_run TEXT", "ALTER TABLE reservation ADD COLUMN root_run TEXT"],
}
const rootRunUsage: Migration = {
  name: "003_root_run_usage",
  index: { name: "usage_root_run", table: "usage", over: "(root_run) WHERE root_run IS NOT NULL" },
}

/** All migrations since 0.1.0, in order. Add new ones at the end; never change or remove a released one. */
export const migrations: readonly Migration[] = [schema, rootRuns, rootRunUsage]
