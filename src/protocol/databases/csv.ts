import { z } from "zod"
import { encodings } from "../encoding/text-encoding.ts"
import { lazily } from "../lazily.ts"

/** CSV files of people: what they may say of one, and what was understood of it. */

const Flag = lazily(() => z.enum(["true", "false"]))

/** What the cells of a file do not tell, or tell wrongly. Nothing of it has to be said. */
const said = () => ({
  /** What stands before the decimals, where that could be either. */
  decimal: z.enum(["point", "comma"]).optional(),
  /** Whether 03/04/2025 is in April or in March, where it could be either. */
  dates: z.enum(["day-first", "month-first"]).optional(),
  /** What parts the cells. */
  delimiter: z.enum(["comma", "semicolon", "tab", "bar"]).optional(),
  encoding: z.enum(encodings).optional(),
})

export const CsvQuery = lazily(() =>
  z.object({
    /** What the connection is called, and its table after it. */
    name: z.string().trim().min(1).max(200).default("CSV"),
    /** Tells what would be in it, and keeps nothing. */
    preview: Flag.optional(),
    /** Whether the first row names the columns. */
    header: Flag.optional(),
    ...said(),
  }),
)
export type CsvQuery = z.infer<typeof CsvQuery>

const Said = lazily(() => z.object(said()))
export type CsvReading = z.infer<typeof Said> & { readonly header?: boolean | undefined }

/** What somebody says of a file, out of the query of its upload. */
export function toReading({ header, decimal, dates, delimiter, encoding }: CsvQuery): CsvReading {
  return { decimal, dates, delimiter, encoding, header: header === undefined ? undefined : header === "true" }
}

/** What only a person can say; until then a column stays text. */
const CsvQuestion = lazily(() =>
  z.object({
    /** Null where it is about the whole file. */
    column: z.string().nullable(),
    /** The parameter of the upload that answers it, and what it may be. */
    option: z.enum(["decimal", "dates", "header"]),
    choices: z.array(z.string()),
    says: z.string(),
  }),
)
export type CsvQuestion = z.infer<typeof CsvQuestion>

/** A CSV file as it was understood. */
export const CsvPreview = lazily(() =>
  z.object({
    /** `note`: what is not in the numbers themselves, such as a currency. */
    columns: z.array(z.object({ name: z.string(), type: z.string(), note: z.string().optional() })),
    /** The first of them. */
    rows: z.array(z.array(z.unknown())),
    delimiter: z.string(),
    rowCount: z.number().int(),
    /** What had to be guessed or filled in, and what stayed text for a reason. */
    warnings: z.array(z.string()),
    questions: z.array(CsvQuestion),
  }),
)
export type CsvPreview = z.infer<typeof CsvPreview>
