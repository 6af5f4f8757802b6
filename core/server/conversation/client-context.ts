import { type ClientContext, CLIENT_HISTORY } from "../../protocol/conversation/message.ts"
import { mendText } from "../../shared/text/text.ts"

/** Characters a client may send along with a message, in all and for one thing. */
interface Room {
  readonly all: number
  readonly one: number
}
const USUAL_ROOM: Room = { all: 24_000, one: 8000 }
/** How many things. */
const MAX_THINGS = 64
const MAX_OF_NAME = 100

/** What clients of the older design send: room for these first, whatever else comes along. */
const USUAL = ["user_profile", "recent_tasks", "relevant_documents", CLIENT_HISTORY]

/** What a client has sent along, as a model can be shown it. Each value is looked at once; what does not fit is counted. */
export function toClientContext(
  context: readonly (readonly [name: string, value: unknown])[],
  { all, one }: Room = USUAL_ROOM,
): ClientContext[] {
  const brought: ClientContext[] = []
  let left = all
  for (const [name, value] of [...context].sort(([a], [b]) => rankOf(a) - rankOf(b))) {
    if (brought.length === MAX_THINGS || left <= 0) break
    const lines = linesOf(value).filter((line) => line.trim() !== "")
    if (lines.length === 0) continue
    const room = Math.min(left, one)
    const text = name === CLIENT_HISTORY ? lastOf(lines, room) : firstOf(lines, room)
    left -= text.length
    brought.push({ name: mendText(name.slice(0, MAX_OF_NAME).replaceAll(/\s/g, " ")), text: mendText(text) })
  }
  return brought
}

const rankOf = (name: string): number => (USUAL.indexOf(name) + USUAL.length + 1) % (USUAL.length + 1)

/** A line for each thing in it, so that what does not fit goes by whole things. */
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

/** The first lines that fit; of one that is too long by itself, its beginning. */
function firstOf(lines: readonly string[], room: number): string {
  let used = 0
  const end = lines.findIndex((line) => (used += line.length + 1) > room)
  if (end < 0) return lines.join("\n")
  const kept = end === 0 ? [`${lines[0]?.slice(0, room)}…`] : lines.slice(0, end)
  return [...kept, leftOut(lines.length - kept.length)].filter(Boolean).join("\n")
}

/** The newest lines that fit: what was said last counts most. */
function lastOf(lines: readonly string[], room: number): string {
  let used = 0
  const before = lines.findLastIndex((line) => (used += line.length + 1) > room)
  if (before < 0) return lines.join("\n")
  const kept = before === lines.length - 1 ? [`…${lines.at(-1)?.slice(-room)}`] : lines.slice(before + 1)
  return [leftOut(lines.length - kept.length), ...kept].filter(Boolean).join("\n")
}

const leftOut = (count: number): string => (count > 0 ? `(${count} more left out)` : "")
