import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { PaidBy } from "../../protocol/conversation/message.ts"
import type { Used, UsageAnswer } from "../../protocol/models/usage.ts"
import type { Engine } from "../engine/engine.ts"
import { UsageDays } from "./usage-days.ts"

/** Conversations in the usage report, the most expensive first. */
const MAX_CONVERSATIONS = 100
const MAX_MODELS = 200

const COUNTS = ["calls", "input_tokens", "output_tokens", "cached_tokens", "cost", "unpriced"] as const
const SUMS = COUNTS.map((count) => `CAST(sum(${count}) AS BIGINT) AS ${count}`).join(", ")
const OF_CALL = `1 AS calls, coalesce(input_tokens, 0) AS input_tokens, coalesce(output_tokens, 0) AS output_tokens,
  coalesce(cached_tokens, 0) AS cached_tokens, coalesce(cost, 0) AS cost, CASE WHEN cost IS NULL THEN 1 ELSE 0 END AS unpriced`
const WHAT = "day, conversation, model, provider, paid_by"

type Counts = Readonly<Record<(typeof COUNTS)[number], number>>

interface OfDay extends Counts {
  readonly day: string
  readonly model: string
  readonly provider: string
  readonly paid_by: PaidBy
}

/** Reads the usage of model calls. The journal's commits write it; closed days are summed up here. */
export class SqlUsage {
  readonly #engine: Engine
  readonly #days: UsageDays

  constructor(engine: Engine, now: () => number) {
    this.#engine = engine
    this.#days = new UsageDays(engine, now)
  }

  /** The days from one to another, both included. */
  async read(user: UserId, { from, to }: { from: string; to: string }): Promise<UsageAnswer> {
    const found = await this.#days.find(user, { from, to })
    const [summed, single] = [padded(found.summed), padded(found.single)]
    // Days are named one by one, so that a day that is summed up meanwhile is counted once.
    const usage = `(SELECT ${WHAT}, ${COUNTS.join(", ")} FROM usage_day WHERE person = ? AND day IN (${marks(summed)})
      UNION ALL SELECT ${WHAT}, ${OF_CALL} FROM usage WHERE person = ? AND day IN (${marks(single)})) AS used`
    const values = [user, ...summed, user, ...single]
    const query = <Row>(sql: string) => this.#engine.query<Row>(sql, values)
    const kinds = "day, model, provider, paid_by"
    const [days, conversations] = await Promise.all([
      query<OfDay>(`SELECT ${kinds}, ${SUMS} FROM ${usage} GROUP BY ${kinds} ORDER BY day`),
      query<Counts & { conversation: ConversationId }>(`SELECT conversation, ${SUMS} FROM ${usage}
        GROUP BY conversation ORDER BY cost DESC, input_tokens DESC, conversation LIMIT ${MAX_CONVERSATIONS}`),
    ])
    const models = [...Map.groupBy(days, (row) => JSON.stringify([row.model, row.provider, row.paid_by])).values()]
    return {
      from,
      to,
      totals: toUsed(sum(days)),
      byModel: models
        .map((rows) => ({ ...(rows[0] as OfDay), ...sum(rows) }))
        .sort((a, b) => b.cost - a.cost || b.input_tokens - a.input_tokens || (a.model < b.model ? -1 : 1))
        .slice(0, MAX_MODELS)
        .map((row) => ({ model: row.model, provider: row.provider, paidBy: row.paid_by, ...toUsed(row) })),
      byDay: [...Map.groupBy(days, ({ day }) => day)].map(([day, rows]) => ({ day, ...toUsed(sum(rows)) })),
      byConversation: conversations.map((row) => ({ conversationId: row.conversation, ...toUsed(row) })),
    }
  }
}

/** Lists are padded to these lengths, so that few different statements are prepared. */
const LENGTHS = [1, 8, 32, 128, 512]

/** Pads a list of days, which must not be empty, with values that are no day. */
function padded(days: readonly string[]): readonly string[] {
  const length = LENGTHS.find((each) => days.length <= each) ?? days.length
  return [...days, ...new Array<string>(length - days.length).fill("")]
}

const marks = (days: readonly string[]): string => days.map(() => "?").join(", ")

function sum(rows: readonly Counts[]): Counts {
  const total = { calls: 0, input_tokens: 0, output_tokens: 0, cached_tokens: 0, cost: 0, unpriced: 0 }
  for (const row of rows) for (const count of COUNTS) total[count] += row[count]
  return total
}

const toUsed = (row: Counts): Used => ({
  calls: row.calls,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  cachedTokens: row.cached_tokens,
  cost: row.cost / 1_000_000,
  unpricedCalls: row.unpriced,
})
