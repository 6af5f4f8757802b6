import type { EventType } from "../../../protocol/events.ts"
import { EVENT_COLUMNS, type EventRow, toFoldQuery } from "../event-rows.ts"
import { bodyPhrases, callPhrases, INPUT_TOKENS_LETTER } from "./phrases.ts"

/**
 * How the rows of `event` lie in the file. A conversation that waits for a person may do so for weeks, among thousands, and most
 * of what its rows held were the same words: names of types and keys, the beginnings of ids, times. They lie in the table
 * `event_row`; `event` is a view that shows them as PostgreSQL has them, for every statement and for whoever looks into the
 * file. Rows from before this, or written through the view, lie there as they are, and are told by their long type.
 */
type Letters = { readonly [Type in Exclude<EventType, "message">]: string }

/** The letters of types; of a message the letter says whose it is. None is ever given to another. */
const letters: Letters = {
  conversation_started: "c",
  settings: "g",
  run_started: "r",
  step: "t",
  tool_start: "s",
  handed_over: "h",
  tool_end: "e",
  awaiting_confirmation: "w",
  proposal: "p",
  decision: "d",
  grant_revoked: "v",
  in_doubt: "i",
  resolution: "o",
  late_result: "l",
  restarted: "b",
  fallback: "f",
  history_cut: "k",
  compaction: "m",
  run_ended: "x",
}
const lettersByType: ReadonlyMap<string, string> = new Map(Object.entries(letters))
export const roles: Readonly<Record<string, string>> = { u: "user", a: "assistant", e: "tool" }
export const types = new Map<string, string>([
  ["u", "message"],
  ["a", "message"],
  ...Object.entries(letters).map(([type, letter]) => [letter, type] as const),
])

export const DIGITS = 20
/** Times below it are counted from when the conversation was made: no event is of the first days of 1970. */
const NEAR_MS = 1_000_000_000
const isNear = (at: number): boolean => Math.abs(at) < NEAR_MS

/** Adds the values of a row as it is written. `born`: when its conversation was made, where that is now. */
export function pushPacked(values: (string | number | null)[], row: EventRow, born?: number): void {
  // By number: taking an array apart by names costs as much as all of this, in code that runs too seldom to be made fast.
  const letter = letterOf(row[1], row[5])
  const at = row[3]
  if (letter === undefined || isNear(at)) return void values.push(...row)
  const calls = row[8] === null ? null : callPhrases.pack(row[8])
  const derived = calls === null ? null : idOfFirst(calls)
  const isDerived = derived !== null && row[4] === derived
  const id = isDerived ? null : toShort(row[4], letter === "r" ? "run_" : "msg_")
  const callId = toShort(row[9], "call_")
  if (id === undefined || callId === undefined || (id === null && derived !== null && !isDerived))
    return void values.push(...row)
  const time = born !== undefined && isNear(at - born) ? at - born : at
  const body = row[10] === null ? null : (bodyPhrases[letter]?.pack(row[10]) ?? row[10])
  values.push(row[0], letter, row[2], time, id, null, row[6], row[7], calls, callId, body)
}

/** What was packed, in the same array: thousands are read at a time. `ids`: none that was not asked for is made up. */
export function unpackRow(row: EventRow, ids = true): EventRow {
  const letter = row[1]
  if (letter.length > 1) return row
  row[1] = types.get(letter) ?? letter
  row[5] = roles[letter] ?? null
  const id = row[4]
  const calls = row[8]
  const callId = row[9]
  const body = row[10]
  if (id !== null) row[4] = toLong(id, letter === "r" ? "run_" : "msg_")
  else if (ids && calls !== null) row[4] = idOfFirst(calls)
  if (calls !== null) row[8] = callPhrases.unpack(calls)
  if (callId !== null) row[9] = toLong(callId, "call_")
  if (body !== null) row[10] = bodyPhrases[letter]?.unpack(body) ?? body
  return row
}

function letterOf(type: string, role: string | null): string | undefined {
  if (type === "message") return role === "user" ? "u" : role === "assistant" ? "a" : undefined
  const letter = lettersByType.get(type)
  return letter !== undefined && (roles[letter] ?? null) === role ? letter : undefined
}

/** A reply has the digits of its first call, where our own ids are in it. */
const idOfFirst = (calls: string): string | null =>
  calls.startsWith(FIRST) ? `msg_${calls.slice(1, 1 + DIGITS)}` : null
const FIRST = callPhrases.pack('[{"id":"call_')

const isDigits = (text: string): boolean => text.length === DIGITS && !text.includes("_")

/** Undefined where it could be taken for a short one. */
function toShort(id: string | null, prefix: string): string | null | undefined {
  if (id === null) return null
  const digits = id.startsWith(prefix) ? id.slice(prefix.length) : ""
  return isDigits(digits) ? digits : isDigits(id) ? undefined : id
}

const toLong = (id: string, prefix: string): string => (isDigits(id) ? prefix + id : id)

export const IS_PACKED = "length(type) = 1"
export const AT = `CASE WHEN at BETWEEN ${1 - NEAR_MS} AND ${NEAR_MS - 1} AND ${IS_PACKED} THEN at + (SELECT created_at FROM conversation WHERE key = event_row.conversation) ELSE at END`

const COLUMNS = EVENT_COLUMNS.replace("at,", `${AT},`)
export const PACKED_EVENTS = `SELECT ${COLUMNS} FROM event_row
  WHERE conversation = ? AND position > ? AND position <= ? ORDER BY position LIMIT ?`

const lettersOf = (type: EventType): string[] => (type === "message" ? ["u", "a"] : [letters[type]])
/** Rows are few that lie there as they are, and found by the same statement. */
export const PACKED_EVENTS_TO_FOLD = toFoldQuery({
  table: "event_row",
  at: AT,
  // Not `IN`: for more than two words SQLite makes a table of them each time.
  isType: (...wanted) =>
    `(${wanted
      .flatMap((type) => [...lettersOf(type), type])
      .map((type) => `type = '${type}'`)
      .join(" OR ")})`,
  isRole: (role) => `(type = '${role === "user" ? "u" : "a"}' OR role = '${role}')`,
  counted: `(body LIKE '%"inputTokens":%' AND body NOT LIKE '%"inputTokens":null%'
    OR instr(body, ${INPUT_TOKENS_LETTER}) > 0 AND instr(body, ${INPUT_TOKENS_LETTER} || 'null') = 0)`,
})
