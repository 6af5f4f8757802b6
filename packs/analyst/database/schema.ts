import type { QueryAnswer } from "../../../core/pack.ts"

/** The schema that a database reports. */
export interface DatabaseSchema {
  readonly tables: readonly DatabaseTable[]
  /** There were more tables than are looked at. */
  readonly more: boolean
}

export interface DatabaseTable {
  /** As it is written in a statement, quoted where it has to be. */
  readonly name: string
  readonly kind: "table" | "view"
  readonly comment: string | null
  /** About how many rows it has; null where the database does not know. */
  readonly rows: number | null
  readonly columns: readonly TableColumn[]
  /** Names of columns. */
  readonly primaryKey: readonly string[]
  readonly foreignKeys: readonly ForeignKey[]
  readonly sample: QueryAnswer | undefined
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly comment: string | null
  /** The only values that it takes, in their order, where its type says so. */
  readonly values?: readonly string[] | undefined
}

export interface ForeignKey {
  readonly columns: readonly string[]
  readonly table: string
  readonly references: readonly string[]
}

/** Beyond these nothing is looked at: what a model is shown has to be bounded, and so has the time it takes to find out. */
export const schemaLimits = {
  tables: 500,
  columns: 200,
  sampleRows: 3,
  sampledTables: 40,
  sampleCharacters: 60,
  /** Values of an enumeration. */
  values: 50,
} as const
