import { z } from "zod"
import { SummaryItems } from "./conversation/stages.ts"
import type { RunError } from "./conversation/conversation.ts"
import { fallbackWords } from "./models/fallback-words.ts"

/**
 * The kinds of notices in a conversation. `cancelled` and `failed` say how a run ended; the others happened during one.
 */
export const NoticeKind = z.enum([
  "restarted",
  "fallback",
  "history_cut",
  "compacted",
  "not_compacted",
  "cancelled",
  "failed",
])

/**
 * The extent of a summary: the number of messages, about how many tokens were freed, and what it includes word for
 * word.
 */
export const SummedUp = z.object({
  messages: z.number().int().optional(),
  tokens: z.number().optional(),
  kept: SummaryItems.optional(),
})
export type SummedUp = z.infer<typeof SummedUp>

/** A notice, as listed with messages. */
export const NoticeView = z.object({
  position: z.number().int(),
  /** The `seq` of the last message before it. */
  after: z.number().int(),
  notice: NoticeKind,
  /** The reason: a cause, a code or a count. For `compacted`, the summary. */
  detail: z.string().nullable(),
  /** For `compacted`. */
  summedUp: SummedUp.optional(),
  at: z.string(),
})
export type NoticeView = z.infer<typeof NoticeView>

type Notice = Pick<NoticeView, "notice" | "detail" | "summedUp">

/** The fields that events with notices can have, the same on a stream and in the journal. */
interface NoticeFields {
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
  readonly kept?: SummaryItems | undefined
  readonly problem?: string | undefined
  readonly status?: string | undefined
  readonly reason?: string | null | undefined
  readonly error?: RunError | null | undefined
}

/** The types of journal events that can produce a notice. */
export const NOTICE_EVENTS = ["restarted", "fallback", "history_cut", "compaction", "run_ended"] as const

/** Returns the notice of an event, the same for live and stored events; undefined if it has none. */
export function toNotice(type: (typeof NOTICE_EVENTS)[number], event: NoticeFields): Notice | undefined {
  switch (type) {
    case "restarted":
      return { notice: "restarted", detail: event.detail ?? event.because ?? null }
    case "fallback":
      return { notice: "fallback", detail: `${event.because}: ${fallbackWords(event)}` }
    case "history_cut":
      return { notice: "history_cut", detail: String(event.seq) }
    case "compaction":
      if (event.what === "summary") {
        const { messages, tokens, kept } = event
        return { notice: "compacted", detail: event.summary ?? "", summedUp: { messages, tokens, kept } }
      }
      return event.what === "failed" ? { notice: "not_compacted", detail: event.problem ?? null } : undefined
    case "run_ended": {
      const { status, reason = null, error } = event
      if (status !== "cancelled" && status !== "failed") return undefined
      return { notice: status, detail: error ? `${error.code}: ${error.message}` : reason }
    }
  }
}
