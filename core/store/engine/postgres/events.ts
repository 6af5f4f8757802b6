import type { Engine } from "../engine.ts"
import { EVENTS, EVENTS_TO_FOLD, type EventRow } from "../event-rows.ts"
import { EVENTS_UNLESS_KEPT, FOLD_ROW, type FoldRow } from "../fold-source.ts"
import { numbered } from "../numbered.ts"
import type { TextRow } from "./run-named.ts"
import type { NamedStatement, WireValue } from "./wire-messages.ts"

/** How events are read, and what a conversation is folded from. The statements stay prepared: to plan one costs more than to run it. */
export function readsOfEvents(
  read: (statements: readonly NamedStatement[]) => Promise<TextRow[][]>,
): Pick<Engine, "events" | "eventsToFold"> & Required<Pick<Engine, "foldSource">> {
  const readEvents = async (statement: NamedStatement) => {
    const [rows = []] = await read([statement])
    return rows.map(toEventRow)
  }
  return {
    events: (key, { after, upTo, limit }) => readEvents(statements.events([key, after, upTo, limit])),
    eventsToFold: (key) => readEvents(statements.eventsToFold([key, key, key])),
    async foldSource(id, version) {
      const [[row] = [], rows = []] = await read([
        statements.foldRow([version, id]),
        statements.eventsUnlessKept([version, id]),
      ])
      return row && { row: toFoldRow(row), events: rows.map(toEventRow) }
    },
  }
}

const statements = {
  events: named("events", EVENTS, 4),
  eventsToFold: named("events-to-fold", EVENTS_TO_FOLD, 3),
  foldRow: named("fold-row", FOLD_ROW, 2),
  eventsUnlessKept: named("events-unless-kept", EVENTS_UNLESS_KEPT, 2),
}

function named(name: string, sql: string, places: number): (values: readonly WireValue[]) => NamedStatement {
  const text = numbered(sql, places)
  return (values) => ({ name, text, values })
}

/** In place: thousands are read at a time, and nobody else has the texts. */
function toEventRow(texts: TextRow): EventRow {
  const row = texts as (string | number | null)[]
  for (const column of NUMBERS) if (row[column] !== null) row[column] = Number(row[column])
  return row as EventRow
}

/** Columns of `EventRow`: position, version, at, seq. */
const NUMBERS = [0, 2, 3, 6]

function toFoldRow([key, user_id, fence, arrivals, seen, owner, kept, fold]: TextRow): FoldRow {
  return {
    key: Number(key),
    user_id: user_id ?? "",
    fence: Number(fence),
    arrivals: Number(arrivals),
    seen: Number(seen),
    owner: owner ?? null,
    kept: kept === null ? null : Number(kept),
    fold: fold ?? null,
  }
}
