import { whenIdleAnywhere } from "../../engine/runtime/idle-anywhere.ts"
import { sleep } from "../../shared/time/clock.ts"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { ConversationPorts } from "./ports.ts"

/** How long a write may take to end before its conversation is erased. */
const PATIENCE_MS = 10_000

type Stopping = Pick<ConversationPorts, "runtime" | "journal" | "bus" | "clock">
type Forgetting = Pick<ConversationPorts, "journal" | "bus">

interface Erasing extends Stopping, Forgetting {
  /** False if the conversation does not exist or is another person's. */
  readonly retention: { eraseConversation(user: UserId, id: ConversationId): Promise<boolean> }
}

/** Erases a conversation and everything in it. Throws `not_found` if it is another person's. */
export async function eraseConversation(ports: Erasing, user: UserId, id: ConversationId): Promise<void> {
  await cancelRuns(ports, user, [id])
  if (!(await ports.retention.eraseConversation(user, id))) throw failure("not_found")
  dropConversations(ports, user, [id])
}

interface ErasingPerson extends Stopping, Forgetting {
  readonly retention: {
    conversationsOf(user: UserId): Promise<readonly { readonly id: ConversationId; readonly atWork: boolean }[]>
    erasePerson(user: UserId): Promise<boolean>
  }
  readonly cache: { forget(user: UserId): void }
}

/** Stops a person's runs and erases the account with all its data. A sweep finishes what a killed server left of it. */
export async function erasePerson(ports: ErasingPerson, user: UserId): Promise<void> {
  const conversations = await ports.retention.conversationsOf(user)
  const active = conversations.filter(({ atWork }) => atWork).map(({ id }) => id)
  await cancelRuns(ports, user, active)
  await ports.retention.erasePerson(user)
  ports.cache.forget(user)
  const ids = conversations.map(({ id }) => id)
  dropConversations(ports, user, ids)
}

/** Cancels runs as their person would, so that a write can end. Stops waiting after 10 seconds. */
export async function cancelRuns(ports: Stopping, user: UserId, ids: readonly ConversationId[]): Promise<void> {
  const { runtime, clock } = ports
  const done = new AbortController()
  const stopped = ids.map(async (id) => {
    await runtime.submit(id, { type: "cancel", by: user })
    await whenIdleAnywhere(ports, id)
  })
  await Promise.race([Promise.allSettled(stopped), sleep(clock, PATIENCE_MS, done.signal)])
  done.abort()
}

/** Drops them from this process's memory and ends their streams. Writers on other nodes lose their lease. */
export function dropConversations({ journal, bus }: Forgetting, user: UserId, ids: readonly ConversationId[]): void {
  for (const id of ids) {
    journal.drop(id)
    bus.publish(id, { type: "gone", user })
  }
}
