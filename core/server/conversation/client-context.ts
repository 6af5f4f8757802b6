import { type ClientContext, CLIENT_HISTORY } from "../../protocol/conversation/message.ts"
import { mendText } from "../../shared/text/text.ts"

/** Most characters of client context in a message, in total and per entry. */
interface ContextLimits {
  readonly all: number
  readonly one: number
}
const DEFAULT_LIMITS: ContextLimits = { all: 24_000, one: 8000 }
/** Most entries. */
const MAX_ENTRIES = 64
const MAX_OF_NAME = 100

/** Entries of the older protocol. They get room first. */
const FIRST_NAMES = ["user_profile", "recent_tasks", "relevant_documents", CLIENT_HISTORY]

/**
 * Converts the context that a client sends with a message to what the model is shown. Text that does not fit is cut, and
 * the number of omitted lines is appended.
 */
export function toClientContext(
  context: readonly (readonly [name: string, value: unknown])[],
  { all, one }: ContextLimits = DEFAULT_LIMITS,
): ClientContext[] {
  const found: ClientContext[] = []
  let left = all
  for (const [name, value] of [...context].sort(([a], [b]) => rankOf(a) - rankOf(b))) {
    if (found.length === MAX_ENTRIES || left <= 0) break
    const lines = linesOf(value).filter((line) => line.trim() !== "")
    if (lines.length === 0) continue
    const room = Math.min(left, one)
    const text = name === CLIENT_HISTORY ? lastOf(lines, room) : firstOf(lines, room)
    left -= text.length
    found.push({ name: mendText(name.slice(0, MAX_OF_NAME).replaceAll(/\s/g, " ")), text: mendText(text) })
  }
  return found
}

const rankOf = (name: string): number => (FIRST_NAMES.indexOf(name) + FIRST_NAMES.length + 1) % (FIRST_NAMES.length + 1)

/** One line per item, so that whole items are cut. */
function linesOf(value: unknown): string[] {
  if (value === null || value === undefined) return []
  if (typeof value === "string") return [value]
  if (Array.isArray(value)) return value.map(toLine)
  if (typeof value === "object") return Object.entries(value).map(([name, inner]) => `${name}: ${toLine(inner)}`)
  return [JSON.stringify(value)]
}

function toLine(value: unknown): string {
  if (typeof value === "string") return value
  const { role, content } = (value ?? {}) as { role?: unknown; content?: unknown }
  if (typeof role === "string" && typeof content === "string") return `${role}: ${content}`
  return JSON.stringify(value) ?? ""
}

/** The first lines that fit; if the first is too long, its beginning. */
function firstOf(lines: readonly string[], room: number): string {
  let used = 0
  const end = lines.findIndex((line) => (used += line.length + 1) > room)
  if (end < 0) return lines.join("\n")
  const included = end === 0 ? [`${lines[0]?.slice(0, room)}…`] : lines.slice(0, end)
  return [...included, leftOut(lines.length - included.length)].filter(Boolean).join("\n")
}

/** The last lines that fit: the newest entries of a history matter most. */
function lastOf(lines: readonly string[], room: number): string {
  let used = 0
  const before = lines.findLastIndex((line) => (used += line.length + 1) > room)
  if (before < 0) return lines.join("\n")
  const included = before === lines.length - 1 ? [`…${lines.at(-1)?.slice(-room)}`] : lines.slice(before + 1)
  return [leftOut(lines.length - included.length), ...included].filter(Boolean).join("\n")
}

const leftOut = (count: number): string => (count > 0 ? `(${count} more left out)` : "")
