import type { UserId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import type { Statement } from "../engine/operations.ts"
import { utcDay } from "./mirror-rows.ts"

/** What was used in a stretch of days: where it stands for each of them that has anything. */
export interface UsedDays {
  /** Added up, in `usage_day`. */
  readonly summed: readonly string[]
  /** Only as the calls themselves. */
  readonly single: readonly string[]
}

const DAY_MS = 86_400_000
/** A commit is stamped before it is written, and a database may be away for hours: a day is over when the next is over too. */
const OVER_AFTER_DAYS = 2
/** So many days are added up in one transaction, so that nobody who writes waits for long; and so many for one question. */
const DAYS_AT_ONCE = 4
const MAX_DAYS = 64

const COLUMNS = "person, day, conversation, model, provider, paid_by"
const ADD_UP = `INSERT INTO usage_day (${COLUMNS}, calls, input_tokens, output_tokens, cached_tokens, cost, unpriced)
  SELECT ${COLUMNS}, count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0),
    coalesce(sum(cached_tokens), 0), coalesce(sum(cost), 0), count(*) - count(cost)
  FROM usage WHERE person = ? AND day = ? GROUP BY ${COLUMNS}`
/** The condition is the lock: of several that add up a day, one does. */
const MARK = "INSERT INTO usage_summed (person, day) VALUES (?, ?) ON CONFLICT (person, day) DO NOTHING"
const UNMARK = "DELETE FROM usage_summed WHERE person = ? AND day = ?"
/** What it came to before its mark was taken away: until now somebody may have been reading it. */
const CLEAR = "DELETE FROM usage_day WHERE person = ? AND day = ?"

/** From one day to the next that has anything: the index is entered once for each, and not read. */
const WITH_USAGE = `WITH RECURSIVE used (day) AS (
    SELECT min(day) FROM usage WHERE person = ? AND day >= ? AND day <= ?
    UNION ALL SELECT (SELECT min(u.day) FROM usage u WHERE u.person = ? AND u.day > used.day AND u.day <= ?) FROM used
      WHERE used.day IS NOT NULL)
  SELECT used.day, s.day AS summed FROM used LEFT JOIN usage_summed s ON s.person = ? AND s.day = used.day
    WHERE used.day IS NOT NULL ORDER BY used.day`

/**
 * Days that are over are added up once, by whoever asks for them first: a person who has asked much reads each call of a month
 * once, and not with every question. No turn writes anything for it.
 */
export class UsageDays {
  readonly #engine: Engine
  readonly #now: () => number

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#now = now
  }

  async find(user: UserId, { from, to }: { from: string; to: string }): Promise<UsedDays> {
    const values = [user, from, to, user, to, user]
    const days = await this.#engine.query<{ day: string; summed: string | null }>(WITH_USAGE, values)
    const last = utcDay(this.#now() - OVER_AFTER_DAYS * DAY_MS)
    // Added up by a clock that ran ahead: calls may have come to it since. Those tell it, until it is over.
    const early = days.flatMap(({ day, summed }) => (summed !== null && day > last ? day : []))
    if (early.length > 0) await this.#unmark(user, early)
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

  /** False where somebody else was faster, or nothing can be written: then the calls themselves tell it this time. */
  async #addUp(user: UserId, days: readonly string[]): Promise<boolean> {
    const statements = days.flatMap((day): Statement[] => [
      { sql: MARK, values: [user, day], mustChange: true },
      { sql: CLEAR, values: [user, day] },
      { sql: ADD_UP, values: [user, day] },
    ])
    return this.#written(statements)
  }

  #unmark(user: UserId, days: readonly string[]): Promise<boolean> {
    return this.#written(days.map((day) => ({ sql: UNMARK, values: [user, day] })))
  }

  #written(statements: readonly Statement[]): Promise<boolean> {
    return this.#engine.change({ type: "statements", statements, patience: "long" }).then(
      ({ ok }) => ok,
      () => false,
    )
  }
}
