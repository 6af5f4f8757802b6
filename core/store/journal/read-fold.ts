import type { Conversation } from "../../engine/conversation.ts"
import { FOLD_VERSION, fromKeptFold, toKeptFold } from "../../engine/replay/snapshot.ts"
import { replay, replayOn } from "../../engine/replay/replay.ts"
import { failure } from "../../protocol/errors.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { type EventRow, toEvent } from "../engine/event-rows.ts"
import { FOLD_ROW, type FoldRow } from "../engine/fold-source.ts"
import type { RecordedRow } from "./recorded.ts"

export interface Head extends Omit<RecordedRow, "id" | "position"> {
  readonly key: number
  readonly user_id: UserId
}

/** The same with the fold that is kept of it, where there is one of this version. */
type HeadAndFold = Head & Pick<FoldRow, "kept" | "fold">

const HEAD = `SELECT c.key, p.id AS user_id, c.fence, c.arrivals, c.seen, c.owner
  FROM conversation c JOIN person p ON p.key = c.person WHERE c.id = ?`

export async function readHead(engine: Engine, id: ConversationId): Promise<Head> {
  const [head] = await engine.query<Head>(HEAD, [id])
  if (!head) throw failure("not_found")
  return head
}

/**
 * The fold from disk. Of a long conversation one row is read instead of its history, and the few events behind it: a fold is
 * kept where it took long to make. The journal is the truth; a kept fold that does not fit it is passed over and made anew.
 */
export async function readFold(
  engine: Engine,
  id: ConversationId,
): Promise<{ head: Head; conversation: Conversation }> {
  const source = await readSource(engine, id)
  if (!source) throw failure("not_found")
  const head = source.row as HeadAndFold
  const { conversation, read } = (await readOn(engine, id, head)) ?? (await readWhole(engine, id, source))
  if (read >= MIN_READ && read * OF_ALL >= conversation.position) keep(engine, conversation, head.key)
  return { head, conversation }
}

/** So many events cost little, and a row for each conversation that is short would cost more than it saves. */
const MIN_READ = 128
/** A kept fold is made anew when more than this part of the events stand behind it: all writing of it costs a few times what it holds. */
const OF_ALL = 5

interface Read {
  readonly conversation: Conversation
  /** How many events were read for it. */
  readonly read: number
}

interface Source {
  readonly row: FoldRow
  /** Undefined where they have not been read. */
  readonly events?: readonly EventRow[]
}

async function readSource(engine: Engine, id: ConversationId): Promise<Source | undefined> {
  if (engine.foldSource) return engine.foldSource(id, FOLD_VERSION)
  const [row] = await engine.query<FoldRow>(FOLD_ROW, [FOLD_VERSION, id])
  return row && { row }
}

async function readWhole(engine: Engine, id: ConversationId, { row, events }: Source): Promise<Read> {
  const { key, user_id } = row as HeadAndFold
  // None were read beside a fold that is kept: it could not be used, or somebody kept it behind the question for the row.
  const rows = events && events.length > 0 ? events : await engine.eventsToFold(key)
  return { conversation: replay(id, user_id, rows.map(toEvent)), read: rows.length }
}

/** Undefined where nothing is kept, or nothing that this journal goes on from. */
async function readOn(engine: Engine, id: ConversationId, head: HeadAndFold): Promise<Read | undefined> {
  if (head.kept === null || head.fold === null) return undefined
  const fold = fromKeptFold({ id, user: head.user_id }, head.kept, head.fold)
  if (!fold) return undefined
  // From its last event on: a journal that has lost that one has another history.
  const range = { after: fold.position - 1, upTo: Number.MAX_SAFE_INTEGER, limit: Number.MAX_SAFE_INTEGER }
  const [last, ...behind] = await engine.events(head.key, range)
  if (last?.[0] !== fold.position) return undefined
  return { conversation: replayOn(fold, behind.map(toEvent)), read: behind.length }
}

/** Beside whatever else is to be done: nobody waits for it, and what did not work is tried with the next reading. */
function keep(engine: Engine, conversation: Conversation, key: number): void {
  const body = toKeptFold(conversation)
  if (body === undefined) return
  // Only for a conversation that is still there: its words go with it. An older fold never takes the place of a newer one.
  const sql = `INSERT INTO kept_fold (conversation, position, version, body)
    SELECT key, ?, ?, ? FROM conversation WHERE key = ? AND id = ?
    ON CONFLICT (conversation) DO UPDATE SET position = excluded.position, version = excluded.version, body = excluded.body
      WHERE kept_fold.version <> excluded.version OR kept_fold.position < excluded.position`
  const values = [conversation.position, FOLD_VERSION, body, key, conversation.id]
  engine.change({ type: "statements", statements: [{ sql, values }] }).catch(() => {})
}
