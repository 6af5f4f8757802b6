import type { QueryAnswer } from "../../../core/pack.ts"

/** The schema that a database reports. */
export interface DatabaseSchema {
  readonly tables: readonly DatabaseTable[]
  /** There are more tables than are read. */
  readonly more: boolean
}

export interface DatabaseTable {
  /** Quoted as needed for a statement. */
  readonly name: string
  readonly kind: "table" | "view"
  readonly comment: string | null
  /** The approximate number of rows; null if the database does not know it. */
  readonly rows: number | null
  readonly columns: readonly TableColumn[]
  /** The names of columns. */
  readonly primaryKey: readonly string[]
  readonly foreignKeys: readonly ForeignKey[]
  readonly sample: QueryAnswer | undefined
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly nullable: boolean
  readonly comment: string | null
  /** The allowed values in order, if its type is an enumeration. */
  readonly values?: readonly string[] | undefined
}

export interface ForeignKey {
  readonly columns: readonly string[]
  readonly table: string
  readonly references: readonly string[]
}

/** The limits of what is read, because a model's input and the time for reading must be bounded. */
export const schemaLimits = {
  tables: 500,
  columns: 200,
  sampleRows: 3,
  sampledTables: 40,
  sampleCharacters: 60,
  /** Values of an enumeration. */
  values: 50,
} as const
