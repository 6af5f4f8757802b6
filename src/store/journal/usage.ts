import type { ConversationId, UserId } from "../../protocol/ids.ts"
import type { PaidBy } from "../../protocol/conversation/message.ts"
import type { Used, UsageAnswer } from "../../protocol/models/usage.ts"
import type { Engine } from "../engine/engine.ts"

/** Conversations listed in the usage report, the most expensive first. */
const MAX_CONVERSATIONS = 100
const MAX_MODELS = 200

const SUMS = `count(*) AS calls, CAST(coalesce(sum(input_tokens), 0) AS BIGINT) AS input_tokens,
  CAST(coalesce(sum(output_tokens), 0) AS BIGINT) AS output_tokens,
  CAST(coalesce(sum(cached_tokens), 0) AS BIGINT) AS cached_tokens,
  CAST(coalesce(sum(cost), 0) AS BIGINT) AS cost, count(*) - count(cost) AS unpriced`
const WHERE = "FROM usage WHERE person = ? AND day >= ? AND day <= ?"

interface Row {
  readonly calls: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly cached_tokens: number
  readonly cost: number
  readonly unpriced: number
}

/** What people's model calls have used. It only reads: the journal's own commits write. */
export class SqlUsage {
  readonly #engine: Engine

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Of the days from one to another, both included. */
  async read(user: UserId, { from, to }: { from: string; to: string }): Promise<UsageAnswer> {
    const ask = <More>(columns: string, rest: string) =>
      this.#engine.query<Row & More>(`SELECT ${columns} ${SUMS} ${WHERE} ${rest}`, [user, from, to])
    const dearest = "ORDER BY cost DESC, input_tokens DESC"
    const [[totals], models, days, conversations] = await Promise.all([
      ask("", ""),
      ask<{ model: string; provider: string; paid_by: PaidBy }>(
        "model, provider, paid_by,",
        `GROUP BY model, provider, paid_by ${dearest}, model LIMIT ${MAX_MODELS}`,
      ),
      ask<{ day: string }>("day,", "GROUP BY day ORDER BY day"),
      ask<{ conversation: ConversationId }>(
        "conversation,",
        `GROUP BY conversation ${dearest}, conversation LIMIT ${MAX_CONVERSATIONS}`,
      ),
    ])
    return {
      from,
      to,
      totals: toUsed(totals as Row),
      byModel: models.map((row) => {
        return { model: row.model, provider: row.provider, paidBy: row.paid_by, ...toUsed(row) }
      }),
      byDay: days.map((row) => ({ day: row.day, ...toUsed(row) })),
      byConversation: conversations.map((row) => ({ conversationId: row.conversation, ...toUsed(row) })),
    }
  }
}

const toUsed = (row: Row): Used => ({
  calls: row.calls,
  inputTokens: row.input_tokens,
  outputTokens: row.output_tokens,
  cachedTokens: row.cached_tokens,
  cost: row.cost / 1_000_000,
  unpricedCalls: row.unpriced,
})
