import type { WaitingPart } from "../model.ts"
import { record, type Work } from "../record.ts"
import { WAITING } from "../definition/stages.ts"

/** Puts on record that a provider is waited for, so that whoever watches knows why nothing comes, also after a reload. */
export function reportWait(work: Work): (waiting: WaitingPart) => Promise<void> {
  return ({ provider, because, ms, attempt, attempts }) => {
    const until = new Date(work.ports.clock.now() + ms).toISOString()
    const detail = { provider, because, seconds: Math.ceil(ms / 1000), until, attempt, attempts }
    return record(work, [{ type: "step", step: WAITING, detail }])
  }
}
