import { z } from "zod"

/**
 * A line of an export: its kind, and the item as every other response shows it. The last line of a whole export is
 * `end`, which counts the others.
 */
export const ExportLine = z.looseObject({ kind: z.string() })
export type ExportLine = z.infer<typeof ExportLine>
