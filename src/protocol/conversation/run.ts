import { z } from "zod"
import { Usage } from "./message.ts"
import { ids } from "../schema.ts"
import { lazily } from "../lazily.ts"

export const RunStatus = lazily(() => z.enum(["running", "paused", "completed", "failed", "cancelled"]))
export type RunStatus = z.infer<typeof RunStatus>

/** Why a run waits: for a person, or for the program that they use. */
export const PauseReason = lazily(() => z.enum(["awaiting_confirmation", "in_doubt", "awaiting_client"]))
export type PauseReason = z.infer<typeof PauseReason>

export const RunError = lazily(() => z.object({ code: z.string(), message: z.string() }))
export type RunError = z.infer<typeof RunError>

/** The work from a user message to its end; it may pause and go on, its limits span it. */
export const Run = lazily(() =>
  z.object({
    id: ids.run,
    conversationId: ids.conversation,
    status: RunStatus,
    iteration: z.number().int(),
    maxIterations: z.number().int(),
    pauseReason: PauseReason.nullable(),
    error: RunError.nullable(),
    /** Which model answers, or has answered last; null where none has, and where an older Pawl did not note it. */
    model: z.string().nullable(),
    usage: Usage.nullable(),
    startedAt: z.string(),
    endedAt: z.string().nullable(),
  }),
)
export type Run = z.infer<typeof Run>
