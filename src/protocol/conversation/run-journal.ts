import { z } from "zod"
import { lazily } from "../lazily.ts"

/** A row of the journal as it was recorded. Of one that a newer Pawl has written, what it says stands in `body`. */
export const RecordedEvent = lazily(() =>
  z.looseObject({
    type: z.string(),
    version: z.number().int(),
    position: z.number().int(),
    /** Milliseconds since 1970. */
    at: z.number().int(),
  }),
)
export type RecordedEvent = z.infer<typeof RecordedEvent>

/** Rows of a run in order; `nextAfter` is what to ask for next, null behind the last there is now. */
export const RunJournal = lazily(() =>
  z.object({ items: z.array(RecordedEvent), nextAfter: z.number().int().nullable() }),
)
export type RunJournal = z.infer<typeof RunJournal>

export const RunJournalQuery = lazily(() =>
  z.object({
    /** Only rows behind this position. */
    after: z.coerce.number().int().min(0).default(0),
  }),
)
