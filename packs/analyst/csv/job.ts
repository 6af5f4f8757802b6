import { MAX_UPLOADED_BYTES } from "../sqlite/upload-path.ts"
import type { CsvPreview, CsvReading } from "../../../core/protocol/databases/csv.ts"

/** What a child process is asked for: to read a file, and to write what is in it into a new database. */
export interface CsvJob {
  readonly file: string
  /** Where the database is made; null for a look at the file that keeps nothing. */
  readonly to: string | null
  readonly table: string
  /** Its sender says that cells are parted by tabs. */
  readonly tabs: boolean
  /** What else its sender says of it. */
  readonly said?: CsvReading
  readonly limits: CsvLimits
}

export type CsvOutcome =
  | { readonly type: "read"; readonly preview: CsvPreview }
  | { readonly type: "refused"; readonly problem: string }

export interface CsvLimits {
  /** Of one file, and of all that a person has made of files. */
  readonly bytes: number
  readonly keptBytes: number
  readonly rows: number
  readonly columns: number
  /** Of one row, in bytes: what a quote that is never closed runs into. */
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

/** A file that cannot be taken, in words for whoever has sent it. */
export class CsvRefusal extends Error {
  override name = "CsvRefusal"
}
