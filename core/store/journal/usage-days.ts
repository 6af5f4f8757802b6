import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { utcDay } from "./mirror-rows.ts"

/** How the usage of each day is stored, for the days that have any. */
export interface UsageByDay {
  /** As sums in `usage_day`. */
  readonly summed: readonly string[]
  /** Only as single calls. */
  readonly single: readonly string[]
}

const DAY_MS = 86_400_000
/**
 * A commit has its time before it is written, and a database may be away for hours. So a day is closed after the next
 * one.
 */
const OVER_AFTER_DAYS = 2
/** Limits per transaction, so that writers are not blocked for long, and per request. */
const DAYS_AT_ONCE = 4
const MAX_DAYS = 64

const COLUMNS = "person, day, conversation, model, provider, paid_by"
const ADD_UP = `INSERT INTO usage_day (${COLUMNS}, calls, input_tokens, output_tokens, cached_tokens, cost, unpriced)
  SELECT ${COLUMNS}, count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cached_tokens), 0), coalesce(sum(cost), 0), count(*) - count(cost)
  FROM usage WHERE person = ? AND day = ? GROUP BY ${COLUMNS}`
/** The condition is the lock: of several callers one sums up a day. */
const MARK = "INSERT INTO usage_summed (person, day) VALUES (?, ?) ON CONFLICT (person, day) DO NOTHING"
const UNMARK = "DELETE FROM usage_summed WHERE person = ? AND day = ?"
/** Removes sums from before the mark was removed. */
const CLEAR = "DELETE FROM usage_day WHERE person = ? AND day = ?"

/** Steps through the index from one day with usage to the next, without reading all of it. */
const WITH_USAGE = `WITH RECURSIVE used (day) AS (
    SELECT min(day) FROM usage WHERE person = ? AND day >= ? AND day <= ?
    UNION ALL SELECT (SELECT min(u.day) FROM usage u WHERE u.person = ? AND u.day > used.day AND u.day <= ?) FROM used
      WHERE used.day IS NOT NULL)
  SELECT used.day, s.day AS summed FROM used LEFT JOIN usage_summed s ON s.person = ? AND s.day = used.day
    WHERE used.day IS NOT NULL ORDER BY used.day`

/**
 * Closed days are summed up once, at the first request for them, so that a report need not read every call of a month
 * each time. Turns write nothing for it.
 */
export class UsageDays {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  async find(user: UserId, { from, to }: { from: string; to: string }): Promise<UsageByDay> {
    const values = [user, from, to, user, to, user]
    const days = await this.#engine.query<{ day: string; summed: string | null }>(WITH_USAGE, values)
    const last = utcDay(this.#now() - OVER_AFTER_DAYS * DAY_MS)
    // Summed up by a clock that was ahead. Later calls may be missing, so until the day is closed its single calls
    // count.
    const premature = days.flatMap(({ day, summed }) => (summed !== null && day > last ? day : []))
    if (premature.length > 0) await this.#unmark(user, premature)
    const summed = days.flatMap((row) => (row.summed !== null && row.day <= last ? row.day : []))
    const single = days.flatMap((row) => (row.summed === null || row.day > last ? row.day : []))
    const over = single.filter((day) => day <= last).slice(0, MAX_DAYS)
    const added = new Set<string>()
    for (let at = 0; at < over.length; at += DAYS_AT_ONCE) {
      const some = over.slice(at, at + DAYS_AT_ONCE)
      if (await this.#addUp(user, some)) for (const day of some) added.add(day)
    }
    return { summed: [...summed, ...added], single: single.filter((day) => !added.has(day)) }
  }

  /** False if another caller was faster or the write failed. Then the single calls are read this time. */
  async #addUp(user: UserId, days: readonly string[]): Promise<boolean> {
    const statements = days.flatMap((day): Statement[] => [
      { sql: MARK, values: [user, day], mustChange: true },
      { sql: CLEAR, values: [user, day] },
      { sql: ADD_UP, values: [user, day] },
    ])
    return this.#tryChange(statements)
  }

  #unmark(user: UserId, days: readonly string[]): Promise<boolean> {
    return this.#tryChange(days.map((day) => ({ sql: UNMARK, values: [user, day] })))
  }

  #tryChange(statements: readonly Statement[]): Promise<boolean> {
    return this.#engine.change({ type: "statements", statements, patience: "long" }).then(
      ({ ok }) => ok,
      () => false,
    )
  }
}
