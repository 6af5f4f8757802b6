import type { CallContext, OpenWorkspace, Workspace } from "../../../core/pack.ts"

export type Value = string | number | null
/** A row of whichever table, by column. */
export type DeskRow = Readonly<Record<string, Value>>

/** The context of one call: the user's workspace and time zone, and the names of rows that were read. */
export interface Desk {
  readonly workspace: Workspace
  /** When the call was made, for dates: it does not move while a person thinks. */
  readonly now: number
  readonly timeZone: string
  /** By id: what people call a row that others refer to. */
  readonly names: Map<string, string>
}

export function openDesk(open: OpenWorkspace, context: CallContext): Desk {
  const { calledAt: calledAt, timeZone } = context
  return { workspace: open(context), now: calledAt, timeZone, names: new Map() }
}
