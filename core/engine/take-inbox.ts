import type { JournalEvent } from "../protocol/events.ts"
import { accept } from "./accept/accept.ts"
import { overtakenResults } from "./accept/settle-calls.ts"
import { pendingInput } from "./inbox.ts"
import type { InboxItem } from "./input.ts"
import { commitStaged, type Work } from "./record.ts"
import { stage } from "./replay/replay.ts"

/** Moves input from the inbox into the journal: the events appear and the inbox items are deleted in one commit. */
export async function takeInbox(work: Work): Promise<void> {
  const { conversation, agent, ports } = work
  const taken: InboxItem[] = []
  const events: JournalEvent[] = []
  const now = ports.clock.now()
  const before = conversation.run?.id
  // Each is accepted in the state after the one before it, so that a commit after a cancel finds its call settled.
  for (const item of pendingInput(conversation)) {
    // In that state it may have to wait: a message would join a run that only summarizes, and would not be answered.
    if (!pendingInput(conversation).includes(item)) continue
    const { input, number } = item
    const { maxIterations } = agent
    // A connected client gets an error. If its node failed, only this records that the result came too late.
    for (const call of overtakenResults(conversation, input, now))
      ports.log.warn("client_result_overtaken", { conversation: conversation.id, call })
    const accepted = accept(conversation, input, { now, maxIterations, timeZone: ports.timeZone, number })
    events.push(...stage(conversation, accepted, now))
    conversation.inbox = conversation.inbox.filter((other) => other !== item)
    taken.push(item)
    // A commit contains rows of at most two runs. Input behind a run that started and ended in it is taken with the
    // next commit.
    if (conversation.run?.id !== before && conversation.run?.status !== "running") break
  }
  await commitStaged(work, events, taken)
}
