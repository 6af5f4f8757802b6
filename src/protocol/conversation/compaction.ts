import { z } from "zod"
import { lazily } from "../lazily.ts"

/** What stands in a summary word for word, whatever the model has written beside it. */
export const KeptInSummary = lazily(() =>
  z.object({
    /** What the person has decided about proposals, newest last. */
    decisions: z.array(z.string()),
    /** What is proposed and not settled. */
    proposals: z.array(z.string()),
    /** What answers have cited: an answer may cite it again. */
    sources: z.array(z.object({ id: z.string(), number: z.number().int().optional(), title: z.string() })),
  }),
)
export type KeptInSummary = z.infer<typeof KeptInSummary>

/** Why no summary was made; every other word is the code of an error. */
export const NO_SUMMARY = {
  /** All there is has to stay: the last words, and what answers them. */
  nothing: "nothing_to_sum_up",
  /** The operator wants none, or the model can write none. */
  off: "switched_off",
  /** The process died while it was made, and again. */
  died: "server_stopped",
  empty: "empty_reply",
} as const
