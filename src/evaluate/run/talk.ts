import { addSpent, type EvalSpent, type HappenedAnswer, NOTHING_SPENT } from "../happened.ts"
import type { CaseRun } from "./case-run.ts"
import type { EvalPlace } from "./place.ts"
import { type CaseRecord, recordRun } from "./record.ts"
import { speak } from "./speak.ts"

export interface TalkedCase {
  /** As they really were, where the case left it open. */
  readonly agent: string
  readonly model: string | null
  readonly spent: EvalSpent
  /** What became of each message, as it stood when its run rested. */
  readonly rested: readonly HappenedAnswer[]
  /** The same as it stands at the end: what waited may have given way to later words. */
  readonly whole: readonly HappenedAnswer[]
}

/** Says all that a case says, one message after the other, in a conversation of its own. */
export async function talk(
  { evalCase, agent: wanted, model: chosen, mode, settings, base }: CaseRun,
  { place, connection, signal }: { place: EvalPlace; connection: string | undefined; signal: AbortSignal },
): Promise<TalkedCase> {
  const { client } = place
  // No other model answers instead: the figures would be those of another.
  const body = { agent: wanted, model: chosen, mode, connectionId: connection, fallback: [] }
  const { id, agent, model } = await client.createConversation({ body })
  const stop = () => void client.cancelRun({ params: { id } }).catch(() => {}) // nothing was at work, or it ends with the place
  signal.addEventListener("abort", stop, { once: true })
  const runs: string[] = []
  const rested: HappenedAnswer[] = []
  try {
    for (const words of evalCase.say) {
      signal.throwIfAborted()
      const said = { client, id, base, settings, approve: evalCase.approve ?? "leave", signal } as const
      runs.push(await speak(words, said))
      const { happened } = await recordRun(client, runs.at(-1)!)
      rested.push(happened)
      if (happened.status === "failed") break // whatever is said next would be said to nobody
    }
  } finally {
    signal.removeEventListener("abort", stop)
  }
  signal.throwIfAborted()
  const records: CaseRecord[] = []
  for (const run of runs) records.push(await recordRun(client, run))
  return {
    ...{ agent, rested, whole: records.map(({ happened }) => happened) },
    model: records.findLast((each) => each.model !== null)?.model ?? model,
    spent: records.map(({ spent }) => spent).reduce(addSpent, NOTHING_SPENT),
  }
}
