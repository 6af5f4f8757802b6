import { pauseReason, runStatus } from "../../core/engine/conversation.ts"
import type { Journal } from "../../core/engine/journal.ts"
import type { RebuiltRun } from "../../core/engine/rebuild/rebuild-requests.ts"
import { SNAPSHOT_VERSION, fromSnapshot, toSnapshot } from "../../core/engine/replay/snapshot.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import type { Usage } from "../../core/protocol/conversation/message.ts"
import type { Run } from "../../core/protocol/conversation/conversation.ts"
import type { JournalEvent, UnknownEvent } from "../../core/protocol/events.ts"
import type { ConversationId, UserId } from "../../core/protocol/ids.ts"
import { canonicalJson } from "../../core/shared/text/json.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { toEvent } from "../../core/store/engine/event-rows.ts"
import { STATE_ROW, type StateRow } from "../../core/store/engine/state-source.ts"

export interface StateComparison {
  /**
   * `none`: no snapshot that this version would read. `passed over`: it is malformed, or its position is not in the
   * journal, so the journal is read instead. `differs`: it would be read, but differs from the journal.
   */
  readonly verdict: "none" | "equal" | "passed over" | "differs"
  /** The position of the journal at which it was stored. */
  readonly position?: number
}

/** Compares the stored snapshot of a conversation with the state computed from its whole journal, byte for byte. */
export async function compareSnapshot(engine: Engine, id: ConversationId): Promise<StateComparison> {
  const [row] = await engine.query<StateRow>(STATE_ROW, [SNAPSHOT_VERSION, id])
  if (!row || row.snapshot_position === null || row.snapshot === null) return { verdict: "none" }
  const { key, snapshot_position: position, snapshot } = row
  const user = row.user_id as UserId
  const rows = await engine.events(key, { after: 0, upTo: position, limit: Number.MAX_SAFE_INTEGER })
  const kept = fromSnapshot({ id, user }, position, snapshot)
  if (!kept || rows.at(-1)?.[0] !== position) return { verdict: "passed over", position }
  const anew = toSnapshot(replay(id, user, rows.map(toEvent)))
  const again = toSnapshot(kept)
  const isEqual = anew !== undefined && again !== undefined && plain(anew) === plain(again)
  return { verdict: isEqual ? "equal" : "differs", position }
}

/** The state with sorted fields, without values that are only computed in advance for the next request. */
function plain(fold: string): string {
  const { digested: _, ...rest } = JSON.parse(fold) as Record<string, unknown>
  return canonicalJson(rest)
}

/** Returns the differences between the table of runs and the replayed state; none for an active run. */
export function unlikeRow(run: Run, { conversation, newer, asides }: Folded): string[] {
  const { run: folded } = conversation
  if (run.status === "running" || newer) return []
  const { iteration, maxIterations } = run
  const told = { status: run.status, iteration, maxIterations, waits: run.pauseReason, error: run.error?.code }
  const now = {
    status: runStatus(conversation),
    iteration: folded?.iteration,
    maxIterations: folded?.maxIterations,
    waits: pauseReason(conversation),
    error: folded?.error?.code,
  }
  const names = Object.keys(told) as (keyof typeof told)[]
  const unlike = names.filter((name) => (told[name] ?? null) !== (now[name] ?? null))
  // The rows of older versions have the cost of a title but not its tokens.
  const isTitled = asides.some(({ beside }) => beside === "title")
  return isTitled || summed(run.usage) === summed(folded?.usage) ? unlike : [...unlike, "usage"]
}

type Folded = Pick<RebuiltRun, "conversation" | "newer" | "asides">

const summed = (usage: Usage | null | undefined): string =>
  canonicalJson([usage?.inputTokens ?? null, usage?.outputTokens ?? null, usage?.cost ?? null])

type Events = (JournalEvent | UnknownEvent)[]

/** The rows up to a position, and the first unreadable one. Rows before it are returned. */
export async function readJournalRows(
  journal: Pick<Journal, "read">,
  id: ConversationId,
  upTo: number,
): Promise<{ readonly events: Events; readonly torn: number | undefined }> {
  try {
    return { events: await journal.read(id, { upTo }), torn: undefined }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  // Binary search, because a journal may have very many rows.
  let [whole, torn] = [0, upTo]
  while (torn - whole > 1) {
    const middle = Math.floor((whole + torn) / 2)
    if (await isReadable(journal, id, { after: whole, upTo: middle })) whole = middle
    else torn = middle
  }
  return { events: await journal.read(id, { upTo: whole }), torn }
}

async function isReadable(
  journal: Pick<Journal, "read">,
  id: ConversationId,
  range: { readonly after: number; readonly upTo: number },
): Promise<boolean> {
  try {
    await journal.read(id, range)
    return true
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
