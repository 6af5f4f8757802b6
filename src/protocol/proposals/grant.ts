import { z } from "zod"
import { ActionClass } from "./proposal.ts"
import { lazily } from "../lazily.ts"

const Uses = lazily(() => z.number().int().min(1).max(100))

/** How often a grant holds where nobody says. */
export const USUAL_USES = 10

/** Agreeing to a proposal, and with `always` to later ones of the same tool in the same conversation. */
export const Approval = lazily(() =>
  z.strictObject({
    always: z.union([z.literal(true), z.strictObject({ uses: Uses })]).optional(),
  }),
)

/** What a person has agreed to beforehand: one tool, one conversation, so many times. */
export const Grant = lazily(() =>
  z.object({
    tool: z.string(),
    /** As bad as what was shown when it was granted: it covers this class of action and milder ones. */
    action: ActionClass,
    uses: Uses,
    left: z.number().int().positive(),
    grantedAt: z.string(),
    /** Who granted it. */
    by: z.string(),
  }),
)
export type Grant = z.infer<typeof Grant>

export const GrantList = lazily(() => z.object({ items: z.array(Grant) }))
