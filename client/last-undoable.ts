import type { AuditEntry } from "../core/protocol/proposals/proposal.ts"

interface LastUndoable {
  /** The newest change of the conversation that can be undone. */
  readonly entry: AuditEntry | undefined
  /** A warning to show first: a command that ran since then changed something that undo does not restore. */
  readonly warning: string | undefined
}

/** The change that `/undo` undoes. `items`: the person's audit, newest first. */
export function lastUndoable(items: readonly AuditEntry[], conversation: string | undefined): LastUndoable {
  const own = items.filter(({ conversationId }) => conversationId === conversation)
  const entry = own.find(({ undoable, undoneBy, undoes }) => undoable && undoneBy === null && undoes === null)
  const since = own.slice(0, entry ? own.indexOf(entry) : own.length)
  const command = since.find(({ tool }) => tool === "run_command")
  const warning = command && `Not undone: ${command.summary}. /undo cannot restore what a command changes.`
  return { entry, warning }
}
