import type { Waiting } from "../model.ts"
import { record, type Work } from "../record.ts"
import { WAITING } from "../stages.ts"

/** Puts on record that a provider is waited for, so that whoever watches knows why nothing comes, also after a reload. */
export function tellWait(work: Work): (waiting: Waiting) => Promise<void> {
  return ({ provider, because, ms, attempt, attempts }) => {
    const until = new Date(work.ports.clock.now() + ms).toISOString()
    const detail = { provider, because, seconds: Math.ceil(ms / 1000), until, attempt, attempts }
    return record(work, [{ type: "step", step: WAITING, detail }])
  }
}
