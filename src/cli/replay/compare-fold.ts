import { FOLD_VERSION, fromKeptFold, toKeptFold } from "../../agent/replay/kept-fold.ts"
import { replay } from "../../agent/replay/replay.ts"
import { canonicalJson } from "../../protocol/canonical-json.ts"
import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { Engine } from "../../store/engine/engine.ts"
import { toEvent } from "../../store/engine/event-rows.ts"
import { FOLD_ROW, type FoldRow } from "../../store/engine/fold-source.ts"

export interface KeptFoldLook {
  /**
   * `none`: there is none that this version would read. `passed over`: it does not fit, so that the journal is read in its place.
   * `differs`: it would be read, and says something else than the journal.
   */
  readonly verdict: "none" | "equal" | "passed over" | "differs"
  /** The row of the journal behind which it was kept. */
  readonly position?: number
}

/** Whether the fold that is kept of a conversation is, byte for byte, what its journal comes to when it is folded from its first row. */
export async function compareKeptFold(engine: Engine, id: ConversationId): Promise<KeptFoldLook> {
  const [row] = await engine.query<FoldRow>(FOLD_ROW, [FOLD_VERSION, id])
  if (!row || row.kept === null || row.fold === null) return { verdict: "none" }
  const { key, kept: position, fold } = row
  const user = row.user_id as UserId
  const rows = await engine.events(key, { after: 0, upTo: position, limit: Number.MAX_SAFE_INTEGER })
  const kept = fromKeptFold({ id, user }, position, fold)
  if (!kept || rows.at(-1)?.[0] !== position) return { verdict: "passed over", position }
  const anew = toKeptFold(replay(id, user, rows.map(toEvent)))
  const again = toKeptFold(kept)
  const isEqual = anew !== undefined && again !== undefined && plain(anew) === plain(again)
  return { verdict: isEqual ? "equal" : "differs", position }
}

/** Fields in one order, without what is only worked out ahead for the next request. */
function plain(fold: string): string {
  const { digested: _, ...rest } = JSON.parse(fold) as Record<string, unknown>
  return canonicalJson(rest)
}
