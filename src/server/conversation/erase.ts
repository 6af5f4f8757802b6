import { sleep } from "../../agent/clock.ts"
import type { Runtime } from "../../agent/runtime/runtime.ts"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { ConversationPorts } from "./ports.ts"

/** A write that is under way gets this long to end before its conversation is erased around it. */
const PATIENCE_MS = 10_000

interface Erasing extends Pick<ConversationPorts, "runtime"> {
  /** False: there was nothing of that id, or it is somebody else's. */
  readonly retention: { eraseConversation(user: UserId, id: ConversationId): Promise<boolean> }
}

/** Erases a conversation with all that was said in it. Throws `not_found` for another's. */
export async function eraseConversation(
  { runtime, retention }: Erasing,
  user: UserId,
  id: ConversationId,
): Promise<void> {
  await stopWork(runtime, user, [id])
  if (!(await retention.eraseConversation(user, id))) throw failure("not_found")
  forgetConversations(runtime, user, [id])
}

/** Ends runs as their person would, so that a write is not torn; nobody waits for ever for one that hangs. */
export async function stopWork(runtime: Runtime, user: UserId, ids: readonly ConversationId[]): Promise<void> {
  const { clock } = runtime.ports
  const done = new AbortController()
  const stopped = ids.map(async (id) => {
    await runtime.submit(id, { type: "cancel", by: user })
    await runtime.rest(id)
  })
  await Promise.race([Promise.allSettled(stopped), sleep(clock, PATIENCE_MS, done.signal)])
  done.abort()
}

/** What this process still has of them in memory, and who still watches them. Writers elsewhere find their lease gone. */
export function forgetConversations(runtime: Runtime, user: UserId, ids: readonly ConversationId[]): void {
  for (const id of ids) {
    runtime.ports.journal.drop(id)
    runtime.ports.bus.publish(id, { type: "gone", user })
  }
}
