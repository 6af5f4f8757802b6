import { MAX_UPLOADED_BYTES } from "../sqlite/upload-path.ts"
import type { CsvPreview, CsvReading } from "../../../core/pack.ts"

/** A job of the child process: read a file, and write its contents into a new database. */
export interface CsvJob {
  readonly file: string
  /** The path of the new database; null for a preview, which stores nothing. */
  readonly to: string | null
  readonly table: string
  /** The sender declared tabs as the delimiter. */
  readonly isTabSeparated: boolean
  /** Settings from the sender. */
  readonly options?: CsvReading
  readonly limits: CsvLimits
}

export type CsvOutcome =
  | { readonly type: "read"; readonly preview: CsvPreview }
  | { readonly type: "refused"; readonly problem: string }

export interface CsvLimits {
  /** Limit for one file, and for all uploads of a user. */
  readonly bytes: number
  readonly keptBytes: number
  readonly rows: number
  readonly columns: number
  /** Limit for one row in bytes. An unclosed quotation mark makes a row too long. */
  readonly rowBytes: number
  readonly seconds: number
}

const MEGABYTE = 1024 * 1024

export const csvLimits: CsvLimits = {
  bytes: 64 * MEGABYTE,
  keptBytes: MAX_UPLOADED_BYTES,
  rows: 2_000_000,
  columns: 500,
  rowBytes: MEGABYTE,
  seconds: 120,
}

/** Rows shown in the preview, before the person agrees to the upload. */
export const PREVIEW_ROWS = 20

/** A file that is refused, with a message for its sender. */
export class CsvRefusal extends Error {
  override name = "CsvRefusal"
}
