import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { Conversation } from "../conversation.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { type Digested, digestedOf, goOnWith } from "../history/request-digest.ts"
import { EVENTS_KNOWN } from "./replay.ts"

/**
 * Which folds this build may go on with. The number behind the events is raised whenever the same events come to another
 * fold than before, or a fold has another shape: what was kept by the build before is then passed over. A test holds the
 * folds of many conversations against those of this number, so that it is not forgotten.
 */
export const FOLD_VERSION = `${EVENTS_KNOWN}.4`

/** Longer ones are folded anew: to write them at once would hold up everybody else for too long. */
const MAX_TOKENS = 2_000_000

/**
 * The fold as text, to be kept beside the journal; undefined where it is not at rest. In the middle of a run there are calls
 * without results, and it would be old with the next event. What waits in the inbox is no part of the journal.
 */
export function toKeptFold(conversation: Conversation): string | undefined {
  const { run, calls, tokens, hasUnknownEvents } = conversation
  if (run?.status === "running" || calls.length > 0 || hasUnknownEvents || tokens > MAX_TOKENS) return undefined
  const { id: _, user: __, inbox: ___, arrivals: ____, ...fold } = conversation
  const { history, spared, leftOut, reasoners, proposals, undone, grants, brought, stages, ...rest } = fold
  const { sources, numbers, ...staged } = stages
  // Whoever gives the fold another map or set is told here by the compiler: it would come back as an empty object. Turns
  // may hold bytes, but only in a request.
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

/** The fold that was kept; undefined where the text is none, or of another position. */
export function fromKeptFold(whose: Whose, position: number, text: string): Conversation | undefined {
  try {
    return unpacked(whose, position, text)
  } catch {
    // Something stands there that is no map or list where one belongs: the journal is read in its place.
    return undefined
  }
}

function unpacked(whose: Whose, position: number, text: string): Conversation | undefined {
  const kept = parsed(text)
  if (!kept || kept.position !== position || kept.history?.length !== kept.marks?.length) return undefined
  const { digested, spared, leftOut, reasoners, proposals, undone, grants, brought, stages, ...rest } = kept
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

/** Written by us in one commit: it is whole, or not there. Somebody's hand may have been at it all the same. */
function parsed(text: string): Kept | undefined {
  const kept = JSON.parse(text) as Partial<Kept> | null
  return Array.isArray(kept?.history) && Array.isArray(kept.marks) && kept.stages ? (kept as Kept) : undefined
}

/** What JSON gives back as it was. */
type Plain<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends ReadonlyMap<unknown, unknown> | ReadonlySet<unknown> | Date | ((...given: never[]) => unknown)
    ? never
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T
