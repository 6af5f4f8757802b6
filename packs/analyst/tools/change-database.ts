import { z } from "zod"
import {
  answer,
  type Answer,
  type CallContext,
  type CallId,
  type ConnectionId,
  defineTool,
  failure,
  MAX_SQL,
  type Preview,
  type Replacement,
  type Tool,
  type UserId,
  type WriteOutcome,
} from "../../../core/pack.ts"
import type { DatabaseChange } from "../database/kind.ts"
import type { OpenDatabase, UserDatabases } from "../connections/user-databases.ts"

/** The store of attempts, so that a database can be asked about their outcome. */
export interface Attempts {
  /** Starts an attempt. A repeated attempt needs the ticket that `free` returned. */
  begin(callId: CallId, whose: Whose, ticket?: string): Promise<string>
  record(callId: CallId, holder: string, recorded: NewMark): Promise<"moved" | void>
  find(callId: CallId, user: UserId): Promise<FoundAttempt | undefined>
  free(callId: CallId, whose: Whose, mark: string | undefined): Promise<string | undefined>
}

interface NewMark {
  readonly mark: string
  readonly answer: string
  readonly replaces?: Replacement | undefined
}

interface Whose {
  readonly user: UserId
  readonly connectionId: ConnectionId
}

interface FoundAttempt {
  readonly connectionId: ConnectionId
  readonly recorded: { readonly mark: string; readonly answer: string } | undefined
}

const Input = z.strictObject({
  sql: z
    .string()
    .min(1)
    .max(MAX_SQL)
    .describe("One INSERT, UPDATE or DELETE in the database's own dialect, without RETURNING"),
  why: z.string().min(1).max(500).describe("In one sentence for the person who decides: what this does and what for"),
})
type Input = z.infer<typeof Input>

export interface ChangeOptions {
  readonly databases: Pick<UserDatabases, "open">
  readonly attempts: Attempts
}

/** Changes rows of the conversation's database with a statement that the user has seen and approved. */
export function changeDatabase({ databases, attempts }: ChangeOptions): Tool {
  const open = async (context: CallContext): Promise<OpenDatabase & Whose> => {
    const { user, connectionId, signal, timeZone } = context
    if (!connectionId) throw failure("no_connection")
    const opened = await databases.open({ user, id: connectionId, signal, timeZone })
    if (!opened.place.target.writable) throw failure("connection_read_only", { name: opened.name, id: connectionId })
    return { ...opened, user, connectionId }
  }

  // Tickets of calls that were found not applied by this process. Another process, or this one after a restart, has
  // none and cannot start the change.
  const tickets = new Map<CallId, string>()

  return defineTool<Input>({
    name: "change_database",
    description: `Change rows of the chosen database. Nothing happens before the person has agreed: they are shown the statement and the rows before
and after. Read first, so that the statement touches exactly the rows that are meant.`,
    input: Input,
    effect: "write",
    afterCrash: "ask-target",
    // No undo: overwritten values are lost, and the preview shows only some of the rows.
    inverse: false,
    timeoutSeconds: 40,

    async preview({ sql, why }, context): Promise<Preview> {
      const { kind, place, name, connectionId } = await open(context)
      const change = await kind.rehearse(place, sql)
      // A change without an effect needs no approval and is not recorded as a write.
      if (change.nothing) throw failure("change_is_nothing", { table: change.table, rows: change.affected })
      const notes = change.notes.map((note) => ` ${note}`).join("")
      return {
        summary: `${name}: ${describeChange(change, "would be")}.${notes} ${why}`,
        action: actionOf(change),
        diff: diffOf(change, withMade(change)),
        target: connectionId,
        revision: change.revision,
      }
    },

    async run({ sql }, context): Promise<Answer> {
      // Read before the first await: a ticket that is issued later belongs to another attempt.
      const ticket = tickets.get(context.callId)
      tickets.delete(context.callId)
      const { kind, place, name, user, connectionId } = await open(context)
      const { approved: agreed, callId } = context
      if (agreed?.target !== connectionId || agreed.revision === undefined)
        throw failure("row_stale", { noun: "conversation", id: context.conversation, columns: "the database" })
      const holder = await attempts.begin(callId, { user, connectionId }, ticket)
      const change = await kind.apply(place, sql, {
        expected: agreed.revision,
        record: (mark, done, replaces) =>
          attempts.record(callId, holder, { mark, answer: toText(name, done), replaces }),
      })
      return answer(toText(name, change), { change: diffOf(change, change.after) })
    },

    async outcome(callId, _input, context): Promise<WriteOutcome> {
      const { user } = context
      const found = await attempts.find(callId, user)
      const connectionId = found?.connectionId ?? context.connectionId
      if (!connectionId) return "unknown"
      if (found?.recorded) {
        const { mark, answer: text } = found.recorded
        const { kind, place } = await databases.open({ user, id: connectionId, signal: context.signal })
        const became = await kind.outcome(place, mark)
        if (became === "applied") return answer(text)
        if (became === "unknown") return "unknown"
      }
      // Earlier attempts can record nothing from now on, so they commit nothing.
      const ticket = await attempts.free(callId, { user, connectionId }, found?.recorded?.mark)
      if (ticket === undefined) return "unknown"
      tickets.set(callId, ticket)
      return "not-applied"
    },
  })
}

const PAST = { INSERT: "inserted into", UPDATE: "changed in", DELETE: "deleted from" } as const

/** Describes the change. An INSERT may also change existing rows, and the text says how many. */
function describeChange({ verb, table, affected, added, overwritten, all }: DatabaseChange, be: string): string {
  const every = all ? ", which is EVERY row of the table" : ""
  if (verb !== "INSERT") return `${affected} row(s) ${be} ${PAST[verb]} ${table}${every}`
  if (overwritten === 0) return `${added} row(s) ${be} ${PAST.INSERT} ${table}`
  if (added === 0) return `${overwritten} row(s) ${be} ${PAST.UPDATE} ${table}`
  return `${added} row(s) ${be} ${PAST.INSERT} ${table}, and ${overwritten} changed`
}

const toText = (name: string, change: DatabaseChange) =>
  `Done: ${describeChange({ ...change, all: false }, "were")} of ${name}.`

/** Adding rows is harmless, unless the statement has side effects. */
function actionOf({ verb, before, notes }: DatabaseChange): Preview["action"] {
  if (verb === "DELETE") return "destructive_delete"
  return verb === "INSERT" && before?.length === 0 && notes.length === 0 ? "safe_create" : "destructive_update"
}

/**
 * Shown with the value of the rehearsal, which will differ when the change is applied. It must be shown, because it
 * could hide a statement.
 */
const made = (value: unknown) => `(made when applied, such as ${String(value)})`

/** Marks generated values. An existing row retains its value, which is shown. */
function withMade({ columns, made: names, kept, before, after, paired }: DatabaseChange): readonly unknown[][] | null {
  const facts = columns.map(({ name }) => ({ isMade: names.includes(name), isKept: paired && kept.includes(name) }))
  return (
    after &&
    after.map((row, at) =>
      row.map((value, index) => {
        const { isMade = false, isKept = false } = facts[index] ?? {}
        return !isMade || (isKept && before?.[at]?.[index] === value) ? value : made(value)
      }),
    )
  )
}

function diffOf({ columns, before, added, overwritten, paired }: DatabaseChange, after: DatabaseChange["after"]) {
  const names = columns.map(({ name }) => name)
  const shown = (rows: DatabaseChange["after"], rowCount: number) => rows && { columns: names, rows, rowCount }
  // A mix of new and existing rows: a client must know which of them existed.
  const mixed = paired && added > 0 && overwritten > 0 ? { paired: true } : {}
  const now = shown(after, added + overwritten)
  return { before: shown(before, overwritten), after: now && { ...now, ...mixed } }
}
