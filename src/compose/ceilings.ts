import { type Ceilings, SqlBudget } from "../store/journal/budget.ts"
import type { Store } from "../store/store.ts"

/** No call outlives its run, so what is set aside for longer was left by a process that died. */
const HOLD_MARGIN_SECONDS = 60

interface Spending extends Ceilings {
  readonly runSeconds: number
  now(): number
}

/** Only where a ceiling is set: without one no call waits for the database to agree. */
export function budgetOf({ engine }: Store, { runSeconds, now, ...ceilings }: Spending): { budget?: SqlBudget } {
  if (ceilings.dailyUsd === undefined && ceilings.runUsd === undefined) return {}
  return { budget: new SqlBudget(engine, { ...ceilings, now, holdSeconds: runSeconds + HOLD_MARGIN_SECONDS }) }
}
