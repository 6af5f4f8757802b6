import type { z } from "zod"
import type { Profile } from "../../../core/engine/definition/agent.ts"
import type { DeviceFilters } from "../../../core/protocol/socket.ts"
import type { TableName } from "../../../core/protocol/workspace-tables.ts"
import type { Desk, DeskRow } from "./desk.ts"
import type { Kind } from "./kinds.ts"

/**
 * What the assistant knows of one table. Its tools grow from this: what their arguments are called, which columns these
 * fill, what a sentence says of a row. A new table is a new one of these.
 */
export interface TableSpec {
  readonly name: TableName
  /** What lists of its rows are called. */
  readonly plural: string
  /** The argument that names one of its rows. */
  readonly argument: string
  readonly fields: readonly ColumnField[]
  /** How a line about a row begins; its name, unless this says otherwise. */
  readonly headline?: (row: DeskRow) => string
  /** The column that is shown in full by who asks for one row. */
  readonly body?: string
  /** Columns of long texts that no line of a list shows: a device is not asked for them. */
  readonly unlisted?: readonly string[]
  readonly lists: readonly List[]
  readonly get?: ToolText
  readonly create: ToolText & { readonly verb: string; readonly done: string }
  readonly update?: ToolText
  readonly delete: ToolText
  /** What brings a deleted row back. Only an undo calls it. */
  readonly restore: string
  /** Which requests its tools serve; a name: those of another table, and its own go along. */
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
  readonly kind: Kind
  /** Whether a new row has to have it said, may have it said, or only an old one may. */
  readonly create: "required" | "optional" | "never"
  /** What the model is told about it. */
  readonly about?: string
  /** What a new row holds where nothing is said of it. An update leaves such a column alone, so its tool must not say this. */
  readonly unsaid?: string
  /** What a line about a row calls it; without, the line leaves it out. */
  readonly label?: string
}

export interface List extends ToolText {
  readonly filters: readonly Filter[]
  /** What is asked for whatever the arguments say. */
  readonly always?: (desk: Desk) => DeviceFilters
  /** What a sentence says of that. */
  readonly words?: string
}

export interface Filter {
  readonly argument: string
  /** What it is called where the rows are. */
  readonly key?: keyof DeviceFilters
  readonly schema: z.ZodType
  readonly about: string
  readonly required?: true
  /** It names a row of this table. */
  readonly refers?: TableName
  /** By what is said: what is asked for. Without, they are the same. */
  readonly means?: Readonly<Record<string, string>>
  /** What is asked for instead, where that is more than one thing, and which of the rows that come are meant. */
  readonly narrows?: (said: string, desk: Desk) => { asked: DeviceFilters; keeps?: (row: DeskRow) => boolean }
  /** What a sentence says of it: ` with status done`. */
  readonly words?: (said: string) => string
}
