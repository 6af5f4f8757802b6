import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { Conversation } from "../conversation.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { type Digested, digestedOf, goOnWith } from "../history/request-digest.ts"
import { EVENTS_KNOWN } from "./replay.ts"

/**
 * The version of snapshots. Raise the number after the dot whenever the same events lead to another state, or a state
 * has another shape. Snapshots of other versions are ignored. A test compares many states with this version, so that it
 * is not forgotten.
 */
export const SNAPSHOT_VERSION = `${EVENTS_KNOWN}.4`

/** Longer conversations have no snapshot, because writing it at once would block everything else for too long. */
const MAX_TOKENS = 2_000_000

/**
 * The snapshot to store with the journal; undefined during a run, when calls have no results and the next event would
 * outdate it. The inbox is not part of it.
 */
export function toSnapshot(conversation: Conversation): string | undefined {
  const { run, calls, tokens, hasUnknownEvents } = conversation
  if (run?.status === "running" || calls.length > 0 || hasUnknownEvents || tokens > MAX_TOKENS) return undefined
  const { id: _, user: __, inbox: ___, arrivals: ____, ...fold } = conversation
  const { history, spared, leftOut, reasoners, proposals, undone, grants, brought, stages, ...rest } = fold
  const { sources, numbers, ...staged } = stages
  // The compiler rejects a state with another map or set, which JSON would turn into an empty object. Turns may contain
  // bytes, but only in a request.
  const plain: Plain<typeof rest> = rest
  const plainStages: Plain<typeof staged> = staged
  return JSON.stringify({
    ...plain,
    ...{ history, digested: digestedOf(history) },
    stages: { ...plainStages, sources: [...sources], numbers: [...numbers] },
    ...{ spared: [...spared], leftOut: [...leftOut], reasoners: [...reasoners], proposals: [...proposals] },
    ...{ undone: [...undone], grants: [...grants], brought: [...brought] },
  })
}

/** The state of a snapshot; undefined if the text is malformed, or of another position. */
export function fromSnapshot(whose: Whose, position: number, text: string): Conversation | undefined {
  try {
    return unpacked(whose, position, text)
  } catch {
    // Malformed: the journal is read instead.
    return undefined
  }
}

function unpacked(whose: Whose, position: number, text: string): Conversation | undefined {
  const stored = parsed(text)
  if (!stored || stored.position !== position || stored.history?.length !== stored.marks?.length) return undefined
  const { digested, spared, leftOut, reasoners, proposals, undone, grants, brought, stages, ...rest } = stored
  if (digested) goOnWith(digested, rest.history)
  const empty = emptyConversation(whose.id, whose.user)
  const { sources, numbers } = stages
  return {
    ...empty,
    ...rest,
    stages: { ...empty.stages, ...stages, sources: toMap(sources), numbers: toMap(numbers) },
    ...{ spared: toMap(spared), leftOut: new Set(leftOut), reasoners: new Set(reasoners) },
    ...{ proposals: new Map(proposals), undone: toMap(undone), grants: toMap(grants), brought: toMap(brought) },
  }
}

interface Whose {
  readonly id: ConversationId
  readonly user: UserId
}

type Entries<Key extends keyof T, T = Conversation> =
  T[Key] extends ReadonlyMap<infer Name, infer Value>
    ? [Name, Value][]
    : T[Key] extends ReadonlySet<infer Value>
      ? Value[]
      : never

type Maps = "spared" | "leftOut" | "reasoners" | "proposals" | "undone" | "grants" | "brought"
type Stages = Conversation["stages"]
type Kept = Omit<Conversation, Maps | "stages" | "id" | "user" | "inbox" | "arrivals"> & {
  readonly [Key in Maps]: Entries<Key>
} & {
  readonly digested?: Digested
  readonly stages: Omit<Stages, "sources" | "numbers"> & { [Key in "sources" | "numbers"]: Entries<Key, Stages> }
}

const toMap = <Key, Value>(entries: readonly (readonly [Key, Value])[]): ReadonlyMap<Key, Value> => new Map(entries)

/** Written in one commit, so it is whole or missing. It may have been edited by hand all the same. */
function parsed(text: string): Kept | undefined {
  const stored = JSON.parse(text) as Partial<Kept> | null
  return Array.isArray(stored?.history) && Array.isArray(stored.marks) && stored.stages ? (stored as Kept) : undefined
}

/** Types that JSON preserves. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Date | ((...given: never[]) => unknown)
    ? never
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T
