import type { CallContext, OpenWorkspace, Workspace } from "../../../core/pack.ts"

export type Value = string | number | null
/** A row of any table, by column. */
export type DeskRow = Readonly<Record<string, Value>>

/** The context of one call: the user's workspace and time zone, and the names of rows that were read. */
export interface Desk {
  readonly workspace: Workspace
  /** The time of the call, from which dates are computed. It does not change while a person decides. */
  readonly now: number
  readonly timeZone: string
  /** The names of related rows, by id. */
  readonly names: Map<string, string>
}

export function openDesk(open: OpenWorkspace, context: CallContext): Desk {
  const { calledAt: calledAt, timeZone } = context
  return { workspace: open(context), now: calledAt, timeZone, names: new Map() }
}
