import { z } from "zod"
import { ids } from "../schema.ts"
import { Run } from "./run.ts"
import { RecordedEvent, RunJournalQuery } from "./run-journal.ts"
import { lazily } from "../lazily.ts"

/** A link by which somebody else of the same server looks at one run. What it shows: `src/server/conversation/to-shared-row.ts`. */

const MAX_DAYS = 365

export const NewSharedRun = lazily(() =>
  z.strictObject({
    /** For how many days it opens; null: until it is taken back. */
    days: z.number().int().min(1).max(MAX_DAYS).nullable().default(7),
  }),
)

export const SharedRunView = lazily(() =>
  z.object({
    id: ids.sharedRun,
    runId: ids.run,
    createdAt: z.string(),
    expiresAt: z.string().nullable(),
  }),
)
export type SharedRunView = z.infer<typeof SharedRunView>

/** `path`: where the page shows it, with the secret behind the #, which no server sees. It is told this once. */
export const CreatedSharedRun = lazily(() => SharedRunView.extend({ secret: z.string(), path: z.string() }))

export const sharedRunPath = (secret: string): string => `/shared#${secret}`

/** In a body and not in an address: addresses are written into logs. */
export const SharedRunSecret = lazily(() =>
  z.strictObject({
    secret: z.string().min(1).max(200),
    after: RunJournalQuery.shape.after,
  }),
)

/** Rows as they are shown to others, counted from 1 as if the conversation had begun with this run. */
export const SharedRun = lazily(() =>
  z.object({
    run: Run.pick({ status: true, model: true, error: true, startedAt: true, endedAt: true }),
    items: z.array(RecordedEvent),
    nextAfter: z.number().int().nullable(),
  }),
)
export type SharedRun = z.infer<typeof SharedRun>
