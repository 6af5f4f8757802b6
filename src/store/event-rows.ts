import type { JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { CallPart, Part } from "../protocol/message.ts"
import { toStorableJson } from "../protocol/text.ts"

/** The columns of `event` behind the conversation's key, in order. An array because thousands are read at a time. */
export type EventRow = [
  position: number,
  type: string,
  version: number,
  at: number,
  messageId: string | null,
  role: string | null,
  seq: number | null,
  content: string | null,
  toolCalls: string | null,
  callId: string | null,
  body: string | null,
]

export const EVENT_COLUMNS = "position, type, version, at, message_id, role, seq, content, tool_calls, call_id, body"

/** What the row of an event holds: message fields in columns of their own, the rest as JSON. */
export function toRow(event: JournalEvent): EventRow {
  const { type, version, position, at } = event
  if (event.type === "message") {
    const { id, role, seq, parts, finish, model, usage } = event
    const calls = parts.filter((part): part is CallPart => part.type === "call")
    const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
    const body = toBody({ finish, model, usage, parts: isPlain(parts) ? undefined : parts })
    const toolCalls = calls.length > 0 ? toStorableJson(calls.map(({ id, name, input }) => ({ id, name, input }))) : null
    return [position, type, version, at, id, role, seq, content, toolCalls, null, body]
  }
  if (event.type === "tool_end") {
    const { id, seq, text, callId, status, ms, data, code, reusedFrom, state } = event
    const body = toBody({ status, ms, data, code, reusedFrom, state })
    return [position, type, version, at, id, "tool", seq, text, null, callId, body]
  }
  const { type: _, version: __, position: ___, at: ____, ...rest } = event
  if (event.type === "tool_start") return [position, type, version, at, null, null, null, null, null, event.callId, null]
  return [position, type, version, at, null, null, null, null, null, null, toBody(rest)]
}

/** The event a row holds. A row of a newer Pawl comes back as it is, for whoever can read it. */
export function toEvent(row: EventRow): JournalEvent | UnknownEvent {
  const [position, type, version, at, id, role, seq, content, toolCalls, callId, body] = row
  const rest = body === null ? {} : (JSON.parse(body) as Record<string, unknown>)
  const place = { type, version, position, at }
  if (type === "message") return { ...place, id, role, seq, parts: toParts(content, toolCalls), ...rest } as JournalEvent
  if (type === "tool_end") return { ...place, id, seq, text: content, callId, ...rest } as JournalEvent
  if (type === "tool_start") return { ...place, callId } as JournalEvent
  return { ...place, ...rest } as JournalEvent
}

/** Parts that the columns say whole: at most one text, then calls that are nothing but calls. */
function isPlain(parts: readonly Part[]): boolean {
  return parts.every((part, index) => {
    if (part.type === "text") return index === 0
    return part.type === "call" && part.metadata === undefined && part.invalidInput === undefined
  })
}

function toParts(content: string | null, toolCalls: string | null): Part[] {
  const parts: Part[] = content ? [{ type: "text", text: content }] : []
  if (toolCalls === null) return parts
  for (const call of JSON.parse(toolCalls) as Omit<CallPart, "type">[]) parts.push({ type: "call", ...call })
  return parts
}

function toBody(fields: Record<string, unknown>): string | null {
  const json = toStorableJson(fields)
  return json === "{}" ? null : json
}
