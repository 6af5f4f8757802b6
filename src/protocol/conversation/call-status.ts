import { z } from "zod"
import { lazily } from "../lazily.ts"

/** How a call ended; `ok` and `error` are the tool's own word, the others are ours. */
export const CallStatus = lazily(() =>
  z.enum([
    "ok",
    "error",
    "denied",
    "rejected",
    "expired",
    "superseded",
    "timed_out",
    "cancelled",
    "interrupted",
    "in_doubt",
  ]),
)
export type CallStatus = z.infer<typeof CallStatus>
