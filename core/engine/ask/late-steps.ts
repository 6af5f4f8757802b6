import { latePart } from "../../shared/concurrency/late-part.ts"
import type { Work } from "../record.ts"

const guardrail = latePart(() => import("./guardrail.ts"))
const route = latePart(() => import("./route.ts"))
const grade = latePart(() => import("./grade.ts"))
const compact = latePart(() => import("./compact.ts"))

/** Modules for agents with stages and for long conversations. The first turn of other agents does not need them. */
export const lateSteps = {
  guardrail: async (work: Work) => (await guardrail()).guardrail(work),
  route: async (work: Work) => (await route()).route(work),
  grade: async (work: Work) => (await grade()).grade(work),
  compact: async (work: Work) => (await compact()).compact(work),
}
