import type { JournalEvent } from "../protocol/events.ts"
import { accept } from "./accept/accept.ts"
import { overtakenResults } from "./accept/settle-calls.ts"
import { takeable } from "./inbox.ts"
import type { InboxItem } from "./input.ts"
import { commitStaged, type Work } from "./record.ts"
import { stage } from "./replay/replay.ts"

/** Moves waiting input into the journal: the events appear and the inbox items go in one commit. */
export async function takeInbox(work: Work): Promise<void> {
  const { conversation, agent, ports } = work
  const taken: InboxItem[] = []
  const events: JournalEvent[] = []
  const now = ports.clock.now()
  const before = conversation.run?.id
  // Each is accepted in the state that the one before it has left: a commit after a cancel finds its call settled.
  for (const item of takeable(conversation)) {
    // In that state it may have to wait: words behind a run that only sums up would enter it, and never be answered.
    if (!takeable(conversation).includes(item)) continue
    const { input, number } = item
    const { maxIterations } = agent
    // Who brought it is refused while they are there to hear it; of one that a dead node has kept only this tells.
    for (const call of overtakenResults(conversation, input, now))
      ports.log.warn("client_result_overtaken", { conversation: conversation.id, call })
    const accepted = accept(conversation, input, { now, maxIterations, timeZone: ports.timeZone, number })
    events.push(...stage(conversation, accepted, now))
    conversation.inbox = conversation.inbox.filter((other) => other !== item)
    taken.push(item)
    // A commit writes the rows of two runs: what comes behind one that has begun and ended in it is taken with the next.
    if (conversation.run?.id !== before && conversation.run?.status !== "running") break
  }
  await commitStaged(work, events, taken)
}
