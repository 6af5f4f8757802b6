import { z } from "zod"
import { lazily } from "../lazily.ts"

/** Which of an agent's profiles fit what a person said, and why: the detail of a `routing` step. */
export const RouterDecision = lazily(() =>
  z.object({
    /** By name; none where it is not sure. */
    profiles: z.array(z.string()),
    /** What the model is shown because of it. Where it is not sure: all there are. */
    tools: z.array(z.string()),
    reason: z.string(),
    /** How well each profile fits, where that was measured. */
    scores: z.record(z.string(), z.number()),
    by: z.enum(["rules", "embedder", "unsure"]),
    /** How long it took to decide; absent in what an older server has recorded. */
    ms: z.number().optional(),
  }),
)
export type RouterDecision = z.infer<typeof RouterDecision>
