import { z } from "zod"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

/** How far a call is while it runs, as its tool tells: in words, or so much of so much where the whole is known. */
export const CallProgress = lazily(() =>
  z.object({
    callId: ids.call,
    text: z.string(),
    done: z.number().optional(),
    total: z.number().optional(),
  }),
)
export type CallProgress = z.infer<typeof CallProgress>

/** What a tool tells of how far it is. */
export type ToldProgress = Partial<Omit<CallProgress, "callId">>

/** The same in a few words; empty where it says nothing. */
export function progressWords({ text, done, total }: Omit<CallProgress, "callId">): string {
  if (done === undefined) return text
  const far = total !== undefined && total > 0 ? `${Math.floor((Math.min(done, total) / total) * 100)} %` : String(done)
  return text === "" ? far : `${text} · ${far}`
}
