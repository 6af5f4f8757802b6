import type { MessageFile } from "../../src/protocol/index.ts"
import type { client } from "./client.ts"

/** What a conversation is begun with. */
export type Beginning = NonNullable<NonNullable<Parameters<typeof client.createConversation>[0]>["body"]>

/** Words on their way to the server. */
export interface Outgoing {
  /** Their Idempotency-Key: however often they are sent, they are said once. */
  readonly key: string
  /** Null where the conversation is still to be begun. */
  readonly conversationId: string | null
  readonly beginning: Beginning | null
  /** It may have been begun, by a request whose answer was lost. */
  readonly mayBeBegun: boolean
  readonly text: string
  readonly when: "queue" | "steer"
  readonly timeZone: string
  /** Files that the server has already. */
  readonly files?: readonly MessageFile[]
  /** When they were first sent. */
  readonly at: number
}

const KEY = "pawl.outbox"

/** Kept for this tab, like drafts: a reload takes no words away, and who signs in elsewhere finds none of them. */
export function readOutbox(): readonly Outgoing[] {
  try {
    const kept: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]")
    return Array.isArray(kept) ? (kept as Outgoing[]) : []
  } catch {
    return [] // storage is refused, or holds what is not ours
  }
}

export function saveOutbox(all: readonly Outgoing[]): void {
  try {
    if (all.length === 0) sessionStorage.removeItem(KEY)
    else sessionStorage.setItem(KEY, JSON.stringify(all))
  } catch {
    // Then they last as long as the page.
  }
}
