import { pauseReason } from "../conversation.ts"
import { nextStep, rests } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import { stage } from "../replay/replay.ts"
import type { Job } from "./job.ts"

const ATTEMPTS = 20

/** Becomes the writer where there is none any more and something to do. Says so where work was broken off. */
export async function reclaim(ports: Ports, job: Job): Promise<boolean> {
  if (!job.marksItself) return claimLeftBehind(ports, job)
  const { journal } = ports
  job.marksItself = false
  // Other nodes have it in their line too: whoever comes second does not even read it.
  if ((await journal.earmark([job.id], 1)).length === 0) return false
  try {
    return await claimLeftBehind(ports, job)
  } finally {
    // It runs out by itself: a claim that succeeded must not be undone for it.
    await journal.unmark([job.id]).catch((error: unknown) => ports.log.warn("unmark_failed", { error }))
  }
}

async function claimLeftBehind(ports: Ports, job: Job): Promise<boolean> {
  const { journal, agents, clock, limits, bus } = ports
  const { id, judged } = job
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const conversation = await journal.load(id, true)
    if (journal.mayAppend(conversation)) return true
    const agent = agents.of(conversation)
    const broken = conversation.run?.status === "running" && !pauseReason(conversation)
    const release = rests(nextStep(conversation, agent, limits))
    const { owned, elsewhere, handedOver, unread } = journal.leftBehind(conversation)
    job.isTooNew = conversation.hasUnknownEvents
    if (job.isTooNew || (release && !owned && !unread)) return false
    // A writer that went down in good order let go first; one that died did not.
    const blame = judged?.blame && !handedOver ? { blame: judged.blame } : {}
    const restarted = { type: "restarted", because: handedOver ? "handover" : "crash", ...blame } as const
    const events = stage(conversation, broken ? [restarted] : [], clock.now())
    const claimed = await journal.claim(conversation, events, { release, withInbox: true })
    if (claimed === "busy") return false
    if (claimed !== "claimed") continue
    job.tookOver = elsewhere
    if (events.length > 0) bus.publish(id, { type: "events", user: conversation.user, events })
    return journal.mayAppend(conversation)
  }
  return false
}
