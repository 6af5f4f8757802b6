import { costOf } from "../../engine/ask/ask-decision.ts"
import { USUAL_OUTPUT_TOKENS } from "../../engine/model.ts"
import type { Budget, Reservation, ModelCallPlan, Spent } from "../../engine/ports.ts"
import { type AppError, failure } from "../../protocol/errors.ts"
import { newId } from "../../protocol/ids.ts"
import type { Engine } from "../engine/engine.ts"
import { utcDay, toMicros } from "./mirror-rows.ts"
import { type Statement, USAGE_COLUMNS, type UsageRow } from "../engine/operations.ts"

/** The operator's limits in dollars. Only calls that are paid with the operator's keys count. */
export interface Ceilings {
  /** Per person and UTC day. */
  readonly dailyUsd?: number
  readonly runUsd?: number
}

export interface BudgetOptions extends Ceilings {
  readonly now: () => number
  /** After this time no call can still be running, so a reservation of a failed node expires. */
  readonly holdSeconds?: number
}

const HOLD_SECONDS = 600

/** Limits for any number of concurrent runs and nodes: the database reserves or refuses. */
export class SqlBudget implements Budget {
  readonly #engine: Engine
  readonly #options: BudgetOptions

  constructor(engine: Engine, options: BudgetOptions) {
    this.#engine = engine
    this.#options = options
  }

  async reserve(call: ModelCallPlan): Promise<Reservation | undefined> {
    const { model, inputTokens, maxOutputTokens = USUAL_OUTPUT_TOKENS } = call
    if (model.price === undefined || model.paidBy === "own") return undefined
    const cost = costOf(model.price, { inputTokens, outputTokens: maxOutputTokens })
    if (cost === null) throw refusal(call, `what ${model.name} costs is not known, so no ceiling can hold for it`)
    if (cost === 0) return undefined
    const reservation = {
      ...call,
      id: newId("hold", call.user, this.#options.now()),
      cost,
      maxOutputTokens,
    }
    const { ok } = await this.#engine.change({ type: "statements", statements: this.#reserve(reservation) })
    if (!ok) throw await this.#refusalOf(reservation)
    return reservation
  }

  async settle({ conversation, run, rootRun, user, id }: Reservation, spent?: Spent): Promise<void> {
    // Also by id, because another node may have taken over and reserved for itself.
    const statements: Statement[] = [
      { sql: "DELETE FROM reservation WHERE conversation = ? AND id = ?", values: [conversation, id] },
    ]
    if (spent) {
      const { model, provider, paidBy, inputTokens, outputTokens } = spent
      const whose = [run, id, conversation, user, model, provider, paidBy] as const
      const row: UsageRow = [
        ...whose,
        this.#today,
        inputTokens,
        outputTokens,
        null,
        toMicros(spent.cost),
        rootRun ?? null,
      ]
      const sql = `INSERT INTO usage (${USAGE_COLUMNS}) VALUES (${row.map(() => "?").join(", ")}) ON CONFLICT (run, id) DO NOTHING`
      statements.push({ sql, values: row })
    }
    await this.#engine.change({ type: "statements", statements })
  }

  /** Locks the person's row first, so that reservations are serialized and each sees those before it. */
  #reserve({ conversation, run, rootRun = run, user, id, cost }: Reservation): Statement[] {
    const { now, dailyUsd, runUsd, holdSeconds = HOLD_SECONDS } = this.#options
    const micros = toMicros(cost)
    const daily = dailyUsd === undefined ? [] : [user, this.#today, user, micros, toMicros(dailyUsd)]
    const runValues = runUsd === undefined ? [] : [rootRun, rootRun, rootRun, micros, toMicros(runUsd)]
    const limits = [...(dailyUsd === undefined ? [] : [UNDER_DAILY]), ...(runUsd === undefined ? [] : [UNDER_RUN])]
    const insert = `INSERT INTO reservation (conversation, id, person, cost, expires_at, root_run)
      SELECT CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT)
      WHERE ${limits.join(" AND ") || "1 = 1"}`
    const values = [conversation, id, user, micros, now() + holdSeconds * 1000, rootRun, ...daily, ...runValues]
    return [
      { sql: "INSERT INTO budget (person) VALUES (?) ON CONFLICT (person) DO NOTHING", values: [user] },
      { sql: "UPDATE budget SET person = person WHERE person = ?", values: [user], mustChange: true },
      // Reservations of failed nodes, also in this conversation: the node that reserves is its only writer.
      {
        sql: "DELETE FROM reservation WHERE person = ? AND (conversation = ? OR expires_at <= ?)",
        values: [user, conversation, now()],
      },
      { sql: insert, values, mustChange: true },
    ]
  }

  async #refusalOf(reservation: Reservation): Promise<AppError> {
    const { dailyUsd, runUsd } = this.#options
    const sum = async (sql: string, values: unknown[]) => {
      const [row] = await this.#engine.query<{ n: number }>(`SELECT CAST(${sql} AS BIGINT) AS n`, values)
      return (row?.n ?? 0) / 1_000_000
    }
    const need = `and the next call may cost ${toMoney(reservation.cost)}`
    const inRun =
      runUsd === undefined ? 0 : await sum(SPENT_IN_RUN, Array(3).fill(reservation.rootRun ?? reservation.run))
    if (runUsd !== undefined && inRun + reservation.cost > runUsd) {
      const spent = `this run has cost ${toMoney(inRun)} of the ${toMoney(runUsd)} a run may (PAWL_RUN_LIMIT_USD)`
      return refusal(reservation, `${spent}, ${need}`)
    }
    const today = await sum(`${SPENT_TODAY} + ${RESERVED}`, [reservation.user, this.#today, reservation.user])
    const spent = `${toMoney(today)} of today's ${toMoney(dailyUsd ?? 0)} (PAWL_DAILY_LIMIT_USD) are spent or set aside`
    return refusal(reservation, `${spent}, ${need}; the day ends at midnight UTC`)
  }

  get #today(): string {
    return utcDay(this.#options.now())
  }
}

const SPENT_TODAY = "(SELECT coalesce(sum(cost), 0) FROM usage WHERE person = ? AND day = ? AND paid_by = 'shared')"
const RESERVED = "(SELECT coalesce(sum(cost), 0) FROM reservation WHERE person = ?)"
/** With its sub-agents, which may ask their models at the same time. */
const SPENT_IN_RUN = `((SELECT coalesce(sum(cost), 0) FROM usage WHERE (run = ? OR root_run = ?) AND paid_by = 'shared')
  + (SELECT coalesce(sum(cost), 0) FROM reservation WHERE root_run = ?))`
const UNDER_DAILY = `${SPENT_TODAY} + ${RESERVED} + CAST(? AS BIGINT) <= CAST(? AS BIGINT)`
const UNDER_RUN = `${SPENT_IN_RUN} + CAST(? AS BIGINT) <= CAST(? AS BIGINT)`

const refusal = ({ model }: ModelCallPlan, problem: string) =>
  failure("over_budget", { problem, provider: model.provider })

const toMoney = (dollars: number): string => `$${dollars.toFixed(dollars < 0.01 ? 6 : 2)}`
