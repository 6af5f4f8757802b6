import { lazyModule } from "../../shared/concurrency/lazy-module.ts"
import type { Work } from "../record.ts"

const guardrail = lazyModule(() => import("./guardrail.ts"))
const route = lazyModule(() => import("./route.ts"))
const grade = lazyModule(() => import("./grade.ts"))
const compact = lazyModule(() => import("./compact.ts"))

/** Modules for agents with stages and for long conversations. The first turn of other agents does not need them. */
export const lazySteps = {
  guardrail: async (work: Work) => (await guardrail()).guardrail(work),
  route: async (work: Work) => (await route()).route(work),
  grade: async (work: Work) => (await grade()).grade(work),
  compact: async (work: Work) => (await compact()).compact(work),
}
