import { pauseReason, runStatus } from "../../agent/conversation.ts"
import type { RebuiltRun } from "../../agent/rebuild/rebuild-requests.ts"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { Usage } from "../../protocol/conversation/message.ts"
import type { Run } from "../../protocol/conversation/run.ts"

/** What the table of runs says otherwise than the fold; of a run that is still at work nothing is said. */
export function unlikeRow(run: Run, { conversation, newer, asides }: Folded): string[] {
  const { run: folded } = conversation
  if (run.status === "running" || newer) return []
  const { iteration, maxIterations } = run
  const told = { status: run.status, iteration, maxIterations, waits: run.pauseReason, error: run.error?.code }
  const now = {
    status: runStatus(conversation),
    iteration: folded?.iteration,
    maxIterations: folded?.maxIterations,
    waits: pauseReason(conversation),
    error: folded?.error?.code,
  }
  const names = Object.keys(told) as (keyof typeof told)[]
  const unlike = names.filter((name) => (told[name] ?? null) !== (now[name] ?? null))
  // Before titles were counted in the row, it had their cost and not their tokens.
  const isTitled = asides.some(({ beside }) => beside === "title")
  return isTitled || summed(run.usage) === summed(folded?.usage) ? unlike : [...unlike, "usage"]
}

type Folded = Pick<RebuiltRun, "conversation" | "newer" | "asides">

const summed = (usage: Usage | null | undefined): string =>
  canonicalJson([usage?.inputTokens ?? null, usage?.outputTokens ?? null, usage?.cost ?? null])
