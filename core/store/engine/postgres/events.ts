import type { Engine } from "../engine.ts"
import { EVENTS, EVENTS_TO_REPLAY, type EventRow } from "../event-rows.ts"
import { EVENTS_WITHOUT_SNAPSHOT, STATE_ROW, type StateRow } from "../state-source.ts"
import { numberPlaceholders } from "../numbered.ts"
import type { TextRow } from "./run-named.ts"
import type { NamedStatement, WireValue } from "./wire-messages.ts"

/**
 * Reads events and conversation states. The statements are prepared, because planning one costs more than running it.
 */
export function eventReads(
  read: (statements: readonly NamedStatement[]) => Promise<TextRow[][]>,
): Pick<Engine, "events" | "eventsToReplay"> & Required<Pick<Engine, "stateSource">> {
  const readEvents = async (statement: NamedStatement) => {
    const [rows = []] = await read([statement])
    return rows.map(toEventRow)
  }
  return {
    events: (key, { after, upTo, limit }) => readEvents(statements.events([key, after, upTo, limit])),
    eventsToReplay: (key) => readEvents(statements.eventsToReplay([key, key, key])),
    async stateSource(id, version) {
      const [[row] = [], rows = []] = await read([
        statements.stateRow([version, id]),
        statements.eventsWithoutSnapshot([version, id]),
      ])
      return row && { row: toStateRow(row), events: rows.map(toEventRow) }
    },
  }
}

const statements = {
  events: named("events", EVENTS, 4),
  eventsToReplay: named("events-to-fold", EVENTS_TO_REPLAY, 3),
  stateRow: named("fold-row", STATE_ROW, 2),
  eventsWithoutSnapshot: named("events-unless-kept", EVENTS_WITHOUT_SNAPSHOT, 2),
}

function named(name: string, sql: string, count: number): (values: readonly WireValue[]) => NamedStatement {
  const text = numberPlaceholders(sql, count)
  return (values) => ({ name, text, values })
}

/** Converts in place, because thousands are read at a time. */
function toEventRow(texts: TextRow): EventRow {
  const row = texts as (string | number | null)[]
  for (const column of NUMBERS) if (row[column] !== null) row[column] = Number(row[column])
  return row as EventRow
}

/** Indexes in `EventRow`: position, version, at, seq. */
const NUMBERS = [0, 2, 3, 6]

function toStateRow([key, user_id, fence, arrivals, seen, owner, snapshot_position, snapshot]: TextRow): StateRow {
  return {
    key: Number(key),
    user_id: user_id ?? "",
    fence: Number(fence),
    arrivals: Number(arrivals),
    seen: Number(seen),
    owner: owner ?? null,
    snapshot_position: snapshot_position === null ? null : Number(snapshot_position),
    snapshot: snapshot ?? null,
  }
}
