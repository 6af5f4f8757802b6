import type { CallResult, HistoryMessage } from "../../../agent/model.ts"
import type { PlannedCall } from "../../../agent/definition/phrases.ts"
import { MORE_TOOLS } from "../../../agent/definition/more-tools.ts"
import type { TableName } from "../../../protocol/workspace-tables.ts"

type History = readonly HistoryMessage[]

/** A row that an answer has told of. */
export interface MentionedRow {
  readonly table: TableName
  readonly id: string
  readonly title: string
}

/** What was spoken of last: rows that are there, calls that nobody agreed to, and the tools that were used. */
export interface Mentioned {
  readonly rows: readonly MentionedRow[]
  readonly drafts: readonly PlannedCall[]
  readonly used: readonly string[]
}

const NOTHING: Mentioned = { rows: [], drafts: [], used: [] }
/** Further back than this nobody means with `it`. */
const LOOKED_BACK = 3
const LEFT = new Set<CallResult["status"]>(["superseded", "rejected", "expired", "cancelled"])

/** By their tools: what the rows of an answer are. */
const TABLES: readonly [RegExp, TableName][] = [
  [/_tasks?(?:_due_today)?$/, "tasks"],
  [/_(?:all_)?projects?$/, "projects"],
  [/_notes?$/, "notes"],
  [/_checkpoints?$/, "checkpoints"],
  [/_clients?$/, "clients"],
]

/** What the newest exchange was about that was about anything. */
export function mentionedIn(history: History): Mentioned {
  let end = history.length
  for (let at = history.length - 1, exchanges = 0; at >= 0 && exchanges < LOOKED_BACK; at--) {
    const turn = history[at]
    if (turn?.role !== "user" || turn.isNote) continue
    const found = inExchange(history.slice(at, end))
    if (found.used.length > 0) return found
    end = at
    exchanges++
  }
  return NOTHING
}

function inExchange(turns: History): Mentioned {
  const results = resultsIn(turns)
  if (results.length === 0) return NOTHING
  const inputs = new Map(
    turns.flatMap((turn) =>
      turn.role === "assistant"
        ? turn.parts.flatMap((part) => (part.type === "call" ? [[part.id, part.input]] : []))
        : [],
    ) as [string, unknown][],
  )
  // What was looked at on the way to a change is not what was spoken of.
  const writes = results.filter(({ name, status }) => WRITES.test(name) && status !== "error")
  const told = writes.length > 0 ? writes : results
  return {
    rows: told.flatMap((result) => (result.status === "ok" && !GONE.test(result.name) ? rowsIn(result) : [])),
    drafts: told.flatMap(({ name, status, callId }) =>
      LEFT.has(status) && WRITES.test(name)
        ? [{ name, input: (inputs.get(callId) ?? {}) as Record<string, unknown> }]
        : [],
    ),
    used: told.map(({ name }) => name),
  }
}

const WRITES = /^(?:create|update|delete|restore|add)_/
const GONE = /^delete_/

/** The results of some turns, without those that were only for the model. */
export const resultsIn = (turns: History): CallResult[] =>
  turns.flatMap((turn) => (turn.role === "tool" ? turn.results.filter(({ name }) => name !== MORE_TOOLS) : []))

/** Where a title ends and what is said of its row begins. */
const TRAITS = ["status", "project", "client", "industry", "part of", "date", "id"].map((label) => ` (${label}: `)
const DONE = /^[A-Z][a-z]+ (?:created|updated|put back): /
const ID = /\bid: (?<id>[^\s,()]+)\)\.?$/

/** The rows of an answer, as its lines tell them. The id stands last in a line, where no title reaches. */
export function rowsIn({ name, text }: CallResult): MentionedRow[] {
  const table = TABLES.find(([tool]) => tool.test(name))?.[1]
  if (!table) return []
  const lines = text.split("\n")
  if (name.startsWith("get_")) return toRow(table, `${lines[0]} (${lines[1]})`.replace(/^[A-Z][a-z]+: /, "- "))
  return lines.flatMap((line) => toRow(table, line))
}

function toRow(table: TableName, line: string): MentionedRow[] {
  const told = line.startsWith("- ") ? line.slice(2) : line.replace(DONE, "")
  const id = told === line ? undefined : ID.exec(told.slice(-200))?.groups?.id
  const ends = TRAITS.map((trait) => told.indexOf(trait)).filter((at) => at > 0)
  return id === undefined || ends.length === 0 ? [] : [{ table, id, title: told.slice(0, Math.min(...ends)) }]
}
