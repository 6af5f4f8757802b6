import type { z } from "zod"
import type { DeviceFilters, Profile, TableName } from "../../../core/pack.ts"
import type { Desk, DeskRow } from "./desk.ts"
import type { ArgumentKind } from "./kinds.ts"

/**
 * The assistant's specification of one table, from which its tools are created: the names of their arguments, the
 * columns that these set, and the sentences about a row. A new table is a new specification.
 */
export interface TableSpec {
  readonly name: TableName
  /** The plural noun of its rows. */
  readonly plural: string
  /** The argument that names one of its rows. */
  readonly argument: string
  readonly fields: readonly ColumnField[]
  /** The start of a line about a row. Default: its name. */
  readonly headline?: (row: DeskRow) => string
  /** The column with long text that is shown in full if one row is read. */
  readonly body?: string
  /** Columns with long text that lists do not show, so a device is not asked for them. */
  readonly unlisted?: readonly string[]
  readonly lists: readonly List[]
  readonly get?: ToolText
  readonly create: ToolText & { readonly verb: string; readonly done: string }
  readonly update?: ToolText
  readonly delete: ToolText
  /** The tool that restores a deleted row. Only an undo calls it. */
  readonly restore: string
  /** The requests that its tools serve; or the name of another table whose profile they join. */
  readonly profile: Omit<Profile, "tools"> | string
}

export interface ToolText {
  readonly name: string
  readonly description: string
  /** Requests that clients offer as suggestions. */
  readonly examples: readonly string[]
}

/** A column that calls may fill. */
export interface ColumnField {
  readonly argument: string
  readonly column: string
  readonly kind: ArgumentKind
  /** Whether a new row requires it, allows it, or only an update sets it. */
  readonly create: "required" | "optional" | "never"
  /** Its description for the model. */
  readonly about?: string
  /**
   * The default of a new row, for the description. Not in the update tool, because an update leaves a missing column
   * unchanged.
   */
  readonly unsaid?: string
  /** Its label in a line about a row. Default: the line leaves it out. */
  readonly label?: string
}

export interface List extends ToolText {
  readonly filters: readonly Filter[]
  /** Filters that are always applied. */
  readonly always?: (desk: Desk) => DeviceFilters
  /** The phrase for it in sentences. */
  readonly words?: string
}

export interface Filter {
  readonly argument: string
  /** The name of the filter in the workspace. */
  readonly key?: keyof DeviceFilters
  readonly schema: z.ZodType
  readonly about: string
  readonly required?: true
  /** It names a row of this table. */
  readonly refers?: TableName
  /** Filter values by argument. Default: the argument itself. */
  readonly means?: Readonly<Record<string, string>>
  /** Converts the argument to several filters, and to a condition on the rows. */
  readonly narrows?: (value: string, desk: Desk) => { asked: DeviceFilters; keeps?: (row: DeskRow) => boolean }
  /** The phrase for it in sentences: ` with status done`. */
  readonly words?: (value: string) => string
}
