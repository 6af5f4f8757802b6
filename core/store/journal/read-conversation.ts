import type { Conversation } from "../../engine/conversation.ts"
import { SNAPSHOT_VERSION, fromSnapshot, toSnapshot } from "../../engine/replay/snapshot.ts"
import { replay, replayOn } from "../../engine/replay/replay.ts"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { type EventRow, toEvent } from "../engine/event-rows.ts"
import { STATE_ROW, type StateRow } from "../engine/state-source.ts"
import type { RecordedRow } from "./recorded.ts"

export interface Head extends Omit<RecordedRow, "id" | "position"> {
  readonly key: number
  readonly user_id: UserId
}

/** The row with its snapshot, if there is one of this version. */
type HeadAndSnapshot = Head & Pick<StateRow, "snapshot_position" | "snapshot">

const HEAD = `SELECT c.key, p.id AS user_id, c.fence, c.arrivals, c.seen, c.owner
  FROM conversation c JOIN person p ON p.key = c.person WHERE c.id = ?`

export async function readHead(engine: Engine, id: ConversationId): Promise<Head> {
  const [head] = await engine.query<Head>(HEAD, [id])
  if (!head) throw failure("not_found")
  return head
}

/**
 * Reads a conversation's state. For a long conversation it reads a snapshot and the few events after it; snapshots are
 * stored if reading took many events. The journal is the truth: a snapshot that does not match it is ignored and
 * replaced.
 */
export async function readConversation(
  engine: Engine,
  id: ConversationId,
): Promise<{ head: Head; conversation: Conversation }> {
  const source = await readSource(engine, id)
  if (!source) throw failure("not_found")
  const head = source.row as HeadAndSnapshot
  const { conversation, read } = (await replaySnapshot(engine, id, head)) ?? (await replayAll(engine, id, source))
  if (read >= MIN_READ && read * MAX_SHARE >= conversation.position) storeSnapshot(engine, conversation, head.key)
  return { head, conversation }
}

/** Fewer events are cheap to replay, and a snapshot of each short conversation would cost more than it saves. */
const MIN_READ = 128
/**
 * A snapshot is replaced if more than one in five events are after it, so that writing snapshots costs a small multiple
 * of their size.
 */
const MAX_SHARE = 5

interface Read {
  readonly conversation: Conversation
  /** How many events were read. */
  readonly read: number
}

interface Source {
  readonly row: StateRow
  /** Undefined if they were not read. */
  readonly events?: readonly EventRow[]
}

async function readSource(engine: Engine, id: ConversationId): Promise<Source | undefined> {
  if (engine.stateSource) return engine.stateSource(id, SNAPSHOT_VERSION)
  const [row] = await engine.query<StateRow>(STATE_ROW, [SNAPSHOT_VERSION, id])
  return row && { row }
}

async function replayAll(engine: Engine, id: ConversationId, { row, events }: Source): Promise<Read> {
  const { key, user_id } = row as HeadAndSnapshot
  // `events` can also be empty if the snapshot was unusable, or was stored after the row was read.
  const rows = events && events.length > 0 ? events : await engine.eventsToReplay(key)
  return { conversation: replay(id, user_id, rows.map(toEvent)), read: rows.length }
}

/** Undefined if there is no snapshot, or none that this journal continues. */
async function replaySnapshot(engine: Engine, id: ConversationId, head: HeadAndSnapshot): Promise<Read | undefined> {
  if (head.snapshot_position === null || head.snapshot === null) return undefined
  const snapshot = fromSnapshot({ id, user: head.user_id }, head.snapshot_position, head.snapshot)
  if (!snapshot) return undefined
  // Reads from the snapshot's last event: a journal without that event has another history.
  const range = { after: snapshot.position - 1, upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }
  const [last, ...after] = await engine.events(head.key, range)
  if (last?.[0] !== snapshot.position) return undefined
  return { conversation: replayOn(snapshot, after.map(toEvent)), read: after.length }
}

/** In the background. If it fails, the next read tries again. */
function storeSnapshot(engine: Engine, conversation: Conversation, key: number): void {
  const body = toSnapshot(conversation)
  if (body === undefined) return
  // Only if the conversation still exists, because the snapshot contains its text. An older snapshot never replaces a
  // newer one.
  const sql = `INSERT INTO kept_fold (conversation, position, version, body)
    SELECT key, ?, ?, ? FROM conversation WHERE key = ? AND id = ?
    ON CONFLICT (conversation) DO UPDATE SET position = excluded.position, version = excluded.version, body = excluded.body
      WHERE kept_fold.version <> excluded.version OR kept_fold.position < excluded.position`
  const values = [conversation.position, SNAPSHOT_VERSION, body, key, conversation.id]
  engine.change({ type: "statements", statements: [{ sql, values }] }).catch(() => {})
}
