import { z } from "zod"
import { KeptInSummary } from "./conversation/compaction.ts"
import type { RunError } from "./conversation/run.ts"
import { fallbackWords } from "./models/fallback-words.ts"
import { lazily } from "./lazily.ts"

/** What is told of a conversation in small print. `cancelled`, `failed`: how a run ended; the others happened in one. */
export const NoticeKind = lazily(() =>
  z.enum(["restarted", "fallback", "history_cut", "compacted", "not_compacted", "cancelled", "failed"]),
)

/** What a summary stands for: how many messages gave way, about how many tokens that freed, and what stands beside it word for word. */
export const SummedUp = lazily(() =>
  z.object({
    messages: z.number().int().optional(),
    tokens: z.number().optional(),
    kept: KeptInSummary.optional(),
  }),
)
export type SummedUp = z.infer<typeof SummedUp>

/** A notice as it is read beside messages. */
export const NoticeView = lazily(() =>
  z.object({
    position: z.number().int(),
    /** The `seq` of the message that it came after: the highest there was. */
    after: z.number().int(),
    notice: NoticeKind,
    /** Why: a cause, a code, a count; of `compacted` the summary itself. */
    detail: z.string().nullable(),
    /** Of `compacted`. */
    summedUp: SummedUp.optional(),
    at: z.string(),
  }),
)
export type NoticeView = z.infer<typeof NoticeView>

type Notice = Pick<NoticeView, "notice" | "detail" | "summedUp">

/** What each type of event with small print may hold; the same on a stream and in the journal. */
interface Told {
  readonly because?: string | undefined
  readonly detail?: string | undefined
  readonly from?: string | undefined
  readonly to?: string | undefined
  readonly passed?: readonly { readonly model: string; readonly because: string }[] | undefined
  readonly earlier?: true | undefined
  readonly seq?: number | undefined
  readonly what?: string | undefined
  readonly summary?: string | undefined
  readonly messages?: number | undefined
  readonly tokens?: number | undefined
  readonly kept?: KeptInSummary | undefined
  readonly problem?: string | undefined
  readonly status?: string | undefined
  readonly reason?: string | null | undefined
  readonly error?: RunError | null | undefined
}

export const NOTICED = ["restarted", "fallback", "history_cut", "compaction", "run_ended"] as const

/** What an event says in small print, live and when it is read later alike; undefined where there is nothing to tell. */
export function toNotice(type: (typeof NOTICED)[number], told: Told): Notice | undefined {
  switch (type) {
    case "restarted":
      return { notice: "restarted", detail: told.detail ?? told.because ?? null }
    case "fallback":
      return { notice: "fallback", detail: `${told.because}: ${fallbackWords(told)}` }
    case "history_cut":
      return { notice: "history_cut", detail: String(told.seq) }
    case "compaction":
      if (told.what === "summary") {
        const { messages, tokens, kept } = told
        return { notice: "compacted", detail: told.summary ?? "", summedUp: { messages, tokens, kept } }
      }
      return told.what === "failed" ? { notice: "not_compacted", detail: told.problem ?? null } : undefined
    case "run_ended": {
      const { status, reason = null, error } = told
      if (status !== "cancelled" && status !== "failed") return undefined
      return { notice: status, detail: error ? `${error.code}: ${error.message}` : reason }
    }
  }
}
