import type { AuditEntry } from "../core/protocol/proposals/proposal.ts"

interface LastUndoable {
  /** The newest change of the conversation that can be undone. */
  readonly entry: AuditEntry | undefined
  /** What a person has to know first: a command that ran since then changed something that stays as it is. */
  readonly warning: string | undefined
}

/** What `/undo` undoes. `items`: the audit of the person, newest first. */
export function lastUndoable(items: readonly AuditEntry[], conversation: string | undefined): LastUndoable {
  const own = items.filter(({ conversationId }) => conversationId === conversation)
  const entry = own.find(({ undoable, undoneBy, undoes }) => undoable && undoneBy === null && undoes === null)
  const since = own.slice(0, entry ? own.indexOf(entry) : own.length)
  const command = since.find(({ tool }) => tool === "run_command")
  const warning = command && `Not undone: ${command.summary}. /undo cannot restore what a command changes.`
  return { entry, warning }
}
