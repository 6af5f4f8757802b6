import type { Recorded } from "../../engine/journal.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"

/** The stored position and lease of a conversation. */
export interface RecordedRow {
  readonly id: ConversationId
  readonly position: number
  readonly owner: string | null
  readonly fence: number
  readonly arrivals: number
  readonly seen: number
}

const AT_ONCE = 100
const SQL = `SELECT id, owner, fence, arrivals, seen,
    (SELECT max(position) FROM event WHERE conversation = conversation.key) AS position
  FROM conversation WHERE id IN (${new Array<string>(AT_ONCE).fill("?").join(", ")})`

/** Those of these conversations that exist. */
export async function readRecorded(engine: Engine, ids: readonly ConversationId[]): Promise<RecordedRow[]> {
  const found: RecordedRow[] = []
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    // Padded to one length, so that the statement is always the same.
    const values = Array.from({ length: AT_ONCE }, (_, at) => ids[start + at] ?? "")
    found.push(...(await engine.query<RecordedRow>(SQL, values)))
  }
  return found
}

/**
 * Compares the row with this node's lease: is it still the writer, and has it read all input? Decided by the fence and
 * the count, not by the owner: the row may be older than what this node has done since.
 */
export function toRecorded(
  { id, position, owner, fence, arrivals, seen }: RecordedRow,
  lease: { readonly fence: number; readonly seen: number } | undefined,
): Recorded {
  const recorded = { id, position, atWork: owner !== null || arrivals !== seen, unread: arrivals !== seen }
  if (!lease) return { ...recorded, here: undefined }
  return { ...recorded, here: fence > lease.fence ? "lost" : arrivals > lease.seen ? "unread" : "writer" }
}
