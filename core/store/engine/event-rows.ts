import type { EventPage } from "../../engine/journal.ts"
import { EVENT_VERSION, type JournalEvent, type UnknownEvent } from "../../protocol/events.ts"
import type { CallPart, Finish, Part } from "../../protocol/conversation/message.ts"
import { toStorableJson } from "../../shared/text/text.ts"

/** The columns of `event` after the conversation's key. An array, because thousands are read at a time. */
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

export const EVENTS = `SELECT ${EVENT_COLUMNS} FROM event
  WHERE conversation = ? AND position > ? AND position <= ? ORDER BY position LIMIT ?`

/**
 * The events that a replay needs. Of runs before the newest one it leaves out the starts of tool calls and the ends of
 * runs (two of seven rows of a typical turn), the ids of replies and results, and usage except for the last counted
 * reply, which the usage meter shows until the newest run has one. The context of a user message stays, because it
 * applies until the next one. A run that Pawl wrote (an undo, a summary) does not end the state of the run before it,
 * so that run's end stays; so does an end that removes files from what models are shown. Only for replays: transcripts
 * read all events. The counted reply is found by a subquery that runs only if needed, because a conversation of one run
 * has none.
 */
export const EVENTS_TO_REPLAY = `WITH run AS (SELECT coalesce((SELECT position FROM event WHERE conversation = ? AND type = 'run_started'
    AND body NOT LIKE '%"undoes":%' AND body NOT LIKE '%"again":%' AND body NOT LIKE '%"compacts":%'
    ORDER BY position DESC LIMIT 1), 0) AS newest),
  counted AS (SELECT coalesce((SELECT position FROM event WHERE conversation = ? AND position < (SELECT newest FROM run)
    AND role = 'assistant' AND body LIKE '%"inputTokens":%' AND body NOT LIKE '%"inputTokens":null%' ORDER BY position DESC LIMIT 1), 0) AS reply)
  SELECT position, type, version, at,
    CASE WHEN type = 'run_started' OR role = 'user' THEN message_id END, role, seq, content, tool_calls, call_id,
    CASE WHEN position >= newest OR role = 'user' OR (type <> 'message' AND type <> 'run_started') THEN body
      WHEN position = (SELECT reply FROM counted) THEN body
      WHEN type = 'message' THEN CASE WHEN substr(body, 1, 8) = '{"parts"' THEN body END
      WHEN body LIKE '%"undoes":%' OR body LIKE '%"compacts":%' THEN body END
  FROM event, run
  WHERE conversation = ? AND NOT (position < newest AND type IN ('tool_start', 'run_ended') AND version = ${EVENT_VERSION}
    AND coalesce(body, '') NOT LIKE '%"refuses":%')
  ORDER BY position`

/** Message fields have columns of their own; the rest is JSON. Default values are left out. */
export function toRow(event: JournalEvent): EventRow {
  const { type, version, position, at } = event
  switch (event.type) {
    case "message": {
      const { id, role, seq, parts, model, usage, timeZone, asks, approves, brought, files } = event
      const { settings, schema, data, request } = event
      const calls = parts.filter((part): part is CallPart => part.type === "call")
      const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
      const finish = event.finish === defaultFinish(role, calls.length > 0) ? undefined : event.finish
      // Parts first: see EVENTS_TO_REPLAY.
      const optional = {
        finish,
        model,
        usage,
        timeZone,
        asks,
        approves,
        brought,
        files,
        settings,
        schema,
        data,
        request,
      }
      const body = toBody({ parts: isPlain(parts) ? undefined : parts, ...optional })
      const toolCalls =
        calls.length > 0 ? toStorableJson(calls.map(({ id, name, input }) => ({ id, name, input }))) : null
      return [position, type, version, at, id, role, seq, content, toolCalls, null, body]
    }
    case "tool_end": {
      const { id, seq, text, callId, status, ms, data, code, reusedFrom, state, change, inverse, brings, by } = event
      const body = toBody({
        status: status === "ok" ? undefined : status,
        ms: ms || undefined,
        data,
        code,
        reusedFrom,
        state,
        change,
        inverse,
        brings,
        by,
      })
      return [position, type, version, at, id, "tool", seq, text, null, callId, body]
    }
    case "tool_start":
      return [position, type, version, at, null, null, null, null, null, event.callId, null]
    case "run_started": {
      const { maxIterations, undoes, again, compacts, credential, asks, attended, timeZone, trace, rootRun } = event
      const body = toBody({
        maxIterations,
        undoes,
        again,
        compacts,
        credential,
        asks,
        attended,
        timeZone,
        trace,
        rootRun,
      })
      return [position, type, version, at, event.runId, null, null, null, null, null, body]
    }
    case "conversation_started": {
      const { agent, mode, site, settings, forkedFrom } = event
      const body = toBody({
        agent,
        model: event.model ?? undefined,
        provider: event.provider ?? undefined,
        mode,
        title: event.title ?? undefined,
        site,
        deviceId: event.deviceId ?? undefined,
        connectionId: event.connectionId ?? undefined,
        fallback: event.fallback ?? undefined,
        settings,
        forkedFrom,
      })
      return [position, type, version, at, null, null, null, null, null, null, body]
    }
    case "run_ended": {
      const { status, reason, error, refuses, heldUpTo } = event
      const body = toBody({ status, reason, error, refuses, heldUpTo })
      return [position, type, version, at, null, null, null, null, null, null, body]
    }
    default: {
      const { type: _, version: __, position: ___, at: ____, ...rest } = event
      return [position, type, version, at, null, null, null, null, null, null, toBody(trimmed(event.type, rest))]
    }
  }
}

/** The event of a row. A row of a newer version is returned as it is. */
export function toEvent(row: EventRow): JournalEvent | UnknownEvent {
  const [position, type, version, at, id, role, seq, content, toolCalls, callId, body] = row
  const rest = body === null ? NOTHING : (JSON.parse(body) as Record<string, unknown>)
  // Plain literals, because thousands are read at a time and spreading costs several times as much.
  switch (type) {
    case "message": {
      const parts = (rest.parts as Part[] | undefined) ?? toParts(content, toolCalls)
      const finish = rest.finish ?? defaultFinish(role, toolCalls !== null)
      return {
        type,
        version,
        position,
        at,
        id,
        seq,
        role,
        parts,
        finish,
        model: rest.model,
        usage: rest.usage,
        timeZone: rest.timeZone,
        asks: rest.asks,
        approves: rest.approves,
        brought: rest.brought,
        settings: rest.settings,
        files: rest.files,
        schema: rest.schema,
        data: rest.data,
        request: rest.request,
      } as JournalEvent
    }
    case "tool_end": {
      const { status = "ok", ms = 0, data, code, reusedFrom, state, change, inverse, brings, by } = rest
      return {
        type,
        version,
        position,
        at,
        callId,
        id,
        seq,
        status,
        text: content,
        data,
        ms,
        code,
        reusedFrom,
        state,
        change,
        inverse,
        brings,
        by,
      } as JournalEvent
    }
    case "tool_start":
      return { type, version, position, at, callId } as JournalEvent
    case "run_started":
      return {
        type,
        version,
        position,
        at,
        runId: id,
        maxIterations: rest.maxIterations,
        undoes: rest.undoes,
        again: rest.again,
        compacts: rest.compacts,
        credential: rest.credential,
        asks: rest.asks,
        attended: rest.attended,
        timeZone: rest.timeZone,
        trace: rest.trace,
        rootRun: rest.rootRun,
      } as JournalEvent
    default:
      return { type, version, position, at, ...restored(type, rest) } as JournalEvent
  }
}

/** Parses the rows that fit into a page, at least one. */
export function toPage(rows: readonly EventRow[], maxLength: number): EventPage {
  let [length, fitting] = [0, 0]
  for (const row of rows) {
    length += lengthOf(row)
    if (length <= maxLength) fitting++
  }
  return { events: rows.slice(0, Math.max(1, fitting)).map(toEvent), found: rows.length, length }
}

/** The columns that can be long. */
function lengthOf([, , , , , , , content, toolCalls, , body]: EventRow): number {
  return (content?.length ?? 0) + (toolCalls?.length ?? 0) + (body?.length ?? 0)
}

const NOTHING: Record<string, unknown> = {}

/** The default finish of a reply; user messages have none. */
export function defaultFinish(role: string | null, hasCalls: boolean): Finish | undefined {
  return role !== "assistant" ? undefined : hasCalls ? "calls" : "stop"
}

/** Whether the columns alone represent the parts: at most one text, then calls without further fields. */
function isPlain(parts: readonly Part[]): boolean {
  return parts.every((part, index) => {
    if (part.type === "text") return index === 0
    return part.type === "call" && part.metadata === undefined && part.invalidInput === undefined
  })
}

function toParts(content: string | null, toolCalls: string | null): Part[] {
  const parts: Part[] = content ? [{ type: "text", text: content }] : []
  if (toolCalls === null) return parts
  for (const { id, name, input } of JSON.parse(toolCalls) as CallPart[]) parts.push({ type: "call", id, name, input })
  return parts
}

function toBody(fields: Record<string, unknown>): string | null {
  const json = toStorableJson(fields)
  return json === "{}" ? null : json
}

type Fields = Record<string, unknown>

/** A paused conversation may stay stored for weeks, so default values are left out. */
function trimmed(type: string, fields: Fields): Fields {
  if (type === "awaiting_confirmation")
    return { ...fields, proposals: (fields.proposals as Fields[]).map(trimProposal) }
  return type === "proposal" ? { ...fields, proposal: trimProposal(fields.proposal as Fields) } : fields
}

/** Restores what `trimmed` left out. */
function restored(type: string, fields: Fields): Fields {
  if (type === "conversation_started") return { model: null, provider: null, title: null, ...fields }
  if (type === "awaiting_confirmation")
    return { ...fields, proposals: (fields.proposals as Fields[]).map(restoreProposal) }
  return type === "proposal" ? { ...fields, proposal: restoreProposal(fields.proposal as Fields) } : fields
}

const trimProposal = ({ version, undoable, ...rest }: Fields): Fields => ({
  ...rest,
  version: version === 1 ? undefined : version,
  undoable: undoable || undefined,
})

const restoreProposal = (proposal: Fields): Fields => ({ version: 1, undoable: false, ...proposal })
