import { accept } from "./accept.ts"
import { takeable } from "./inbox.ts"
import { commitStaged, type Work } from "./record.ts"
import { stage } from "./replay.ts"

/** Moves waiting input into the journal: the events appear and the inbox items go in one commit. */
export async function takeInbox(work: Work): Promise<void> {
  const { conversation, agent, ports } = work
  const items = takeable(conversation)
  const now = ports.clock.now()
  // Each is accepted in the state that the one before it has left: a commit after a cancel finds its call settled.
  const events = items.flatMap(({ input, number }) => {
    const { maxIterations } = agent
    const accepted = accept(conversation, input, { now, maxIterations, timeZone: ports.timeZone, number })
    return stage(conversation, accepted, now)
  })
  conversation.inbox = conversation.inbox.filter((item) => !items.includes(item))
  await commitStaged(work, events, items)
}
