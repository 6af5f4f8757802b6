import type { Context } from "hono"
import {
  ANSWER,
  type AnyFrame,
  conversationOf,
  type Env,
  eraseConversation,
  fixedSource,
  type FrameSource,
  type InputItems,
  type InputItemsQuery,
  isEnd,
  isKnown,
  type JournalRow,
  keepAliveOf,
  type ListedItem,
  PendingCalls,
  prependFrames,
  registerStream,
  type ResponseAnswered,
  type ResponseDeleted,
  type ResponseQuery,
  rowsToFrames,
  RunFrames,
  RunPauses,
  type RunRange,
  runRows,
  type ServerPorts,
  STREAM_HEADERS,
  subscribe,
  toTextStream,
  userOf,
  waitForEvent,
} from "../../core/adapter.ts"
import {
  type CallId,
  type ConversationView,
  type EventOf,
  failure,
  type JournalEvent,
  MAX_PAGE_BYTES,
  type Run,
} from "../../core/protocol/index.ts"
import { readResponseId } from "./requests.ts"
import { toModelName } from "./model-names.ts"
import { ResponseAnswer } from "./responses.ts"
import { toDelegatedCallId } from "./content.ts"

/** A stored response: a run, or a part of one that begins with its program's results. */
interface FoundResponse {
  readonly run: Run
  readonly conversation: ConversationView
  /** As in its id: 0 for the first of its run. */
  readonly part: number
  /** The recorded events of its run, shortened, and the first that belongs to the response. */
  readonly rows: readonly JournalRow[]
  readonly from: number
  /** The pause after which its program sent results: the next response starts there. */
  readonly pause?: number
}

/** The response in the address. Throws `not_found` if it is not the caller's. */
async function findResponse(c: Context<Env>, ports: ServerPorts): Promise<FoundResponse> {
  const named = readResponseId(c.req.param("id") ?? "")
  const user = userOf(c)
  const run = await ports.conversations.run(user, named.run)
  if (!run) throw failure("not_found")
  const conversation = await conversationOf(ports, user, run.conversationId)
  const { id, position } = conversation
  const place = await ports.conversations.rowsOfRun(id, run.id)
  if (!place) throw failure("not_found")
  const rows = await readShortened(ports, { id, start: place.start, position: Math.min(place.upTo, position) })
  const results = resultsOf(rows)
  if (named.part > 0 && !results.has(named.part)) throw failure("not_found")
  const from = named.part || place.start
  const pause = pauseOf(rows, { from, results })
  return { run, conversation, part: named.part, rows, from, ...(pause === undefined ? {} : { pause }) }
}

/**
 * Reads the events of a run without what no response contains: results of our own tools, and details of steps. They may be a
 * thousand times as long as the rest.
 */
async function readShortened(ports: ServerPorts, run: RunRange): Promise<JournalRow[]> {
  const shortened: JournalRow[] = []
  const delegated = new Set<CallId>()
  for await (const rows of runRows(ports, run))
    for (const row of rows) {
      if (isKnown(row) && row.type === "handed_over") delegated.add(row.callId)
      shortened.push(isKnown(row) ? shorten(row, delegated) : row)
    }
  return shortened
}

function shorten(row: JournalEvent, delegated: ReadonlySet<CallId>): JournalEvent {
  if (row.type === "step" && row.step !== ANSWER) {
    const { detail: _, ...remaining } = row
    return remaining
  }
  if (row.type !== "tool_end" || delegated.has(row.callId)) return row
  const { data: _, ...remaining } = row
  return { ...remaining, text: "" }
}

/** The positions of results that its program sent. */
function resultsOf(rows: readonly JournalRow[]): ReadonlySet<number> {
  const delegated = new Set<CallId>()
  const results = new Set<number>()
  for (const row of rows) {
    if (!isKnown(row)) continue
    if (row.type === "handed_over") delegated.add(row.callId)
    if (row.type === "tool_end" && delegated.has(row.callId)) results.add(row.position)
  }
  return results
}

interface Part {
  readonly from: number
  readonly results: ReadonlySet<number>
}

/** The pause of the part that begins at a position, if results came after it. Results right after it were sent together. */
function pauseOf(rows: readonly JournalRow[], { from, results }: Part): number | undefined {
  const calls = new PendingCalls()
  let pausedAt: number | undefined
  let together = results.has(from)
  for (const row of rows) {
    if (row.position > from) together &&= results.has(row.position)
    if (row.position > from && !together && results.has(row.position) && pausedAt !== undefined) return pausedAt
    if (isKnown(row)) calls.add(row)
    if (row.position < from) continue
    pausedAt = calls.paused && !together ? (pausedAt ?? row.position) : undefined
  }
  return undefined
}

/** The results that were sent together with the response's first. */
function joinResults({ rows, from }: Pick<FoundResponse, "rows" | "from">): JournalRow[] {
  const results = resultsOf(rows)
  const later = rows.filter(({ position }) => position >= from)
  const end = later.findIndex(({ position }) => !results.has(position))
  return end < 0 ? later : later.slice(0, end)
}

/** A stored response, or its events after a number; of a running one as they come. */
export async function readStoredResponse(
  c: Context<Env>,
  ports: ServerPorts,
  { stream, starting_after: after }: ResponseQuery,
): Promise<ResponseAnswered | Response> {
  if (stream !== "true") return asItStands(await findResponse(c, ports))
  ports.streams.admit(c.get("caller"))
  const found = await findResponse(c, ports)
  const answer = answerOf(found, after)
  const source = registerStream(c.get("caller"), ports, prependFrames(framesBefore(found), await watch(ports, found)))
  return c.body(toTextStream(source, answer, keepAliveOf(ports.clock)), 200, STREAM_HEADERS)
}

/** Cancels the run of a response, also a paused one. A finished one is returned as it is. */
export async function cancelResponse(c: Context<Env>, ports: ServerPorts): Promise<ResponseAnswered> {
  const found = await findResponse(c, ports)
  const { conversation, run } = found
  if (run.status !== "running" && run.status !== "paused") return asItStands(found)
  using watching = waitForEvent(ports, conversation, (event) => event.type === "run_ended")
  // Names the run: it may have ended, and another one started.
  await ports.runtime.submit(conversation.id, { type: "cancel", by: userOf(c), run: run.id })
  await watching.over()
  return asItStands(await findResponse(c, ports))
}

function asItStands(found: FoundResponse): ResponseAnswered {
  const answer = answerOf(found)
  for (const frame of [...framesBefore(found), ...framesSoFar(found)]) answer.translate(frame)
  const response = answer.toResponse()
  return answer.failed?.code === "cancelled" ? { ...response, status: "cancelled", error: null } : response
}

/** The request's fields, as far as its message records them. */
function answerOf({ run, conversation, part, rows }: FoundResponse, after?: number): ResponseAnswer {
  const question = rows.find((row): row is EventOf<"message"> => isKnown(row) && row.type === "message")
  const { temperature, parallelCalls, effort, maxOutputTokens } = question?.settings ?? {}
  const head = {
    ...{ model: toModelName(conversation), conversation: conversation.id, hasToFit: question?.schema !== undefined },
    created: Math.floor(Date.parse(run.startedAt) / 1000),
    ...(part > 0 ? { part } : {}),
  }
  const repeated = {
    ...{ temperature, parallel_tool_calls: parallelCalls, max_output_tokens: maxOutputTokens, reasoning: { effort } },
    ...(question?.schema ? { text: { format: { type: "json_schema" as const, schema: question.schema } } } : {}),
  }
  return new ResponseAnswer(head, repeated, after === undefined ? {} : { after })
}

/** For a continued run: its start, and the open calls of its program. */
function framesBefore({ conversation: { id }, rows, from, part }: FoundResponse): AnyFrame[] {
  if (part === 0) return []
  const before = rows.filter(({ position }) => position < from)
  const frames = rowsToFrames(id, before, 0)
  return frames.filter(({ type }) => type === "run_started" || type === "handed_over" || type === "tool_end")
}

/** The recorded frames to the end, without pauses that are over. */
function framesSoFar(found: FoundResponse): AnyFrame[] {
  const left = pausesGone(found)
  const isLeft = ({ id, type, data }: AnyFrame) =>
    type === "done" && (data as { status: string }).status === "paused" && Number(id) <= left
  const frames = rowsToFrames(found.conversation.id, found.rows, found.from).filter((frame) => !isLeft(frame))
  const end = frames.findIndex(isEnd)
  return end < 0 ? frames : frames.slice(0, end + 1)
}

async function watch(ports: ServerPorts, found: FoundResponse): Promise<FrameSource> {
  const known = framesSoFar(found)
  if (known.some(isEnd)) return fixedSource(known)
  const source = await subscribe(ports, { id: found.conversation.id, after: { position: found.from - 1, offset: 0 } })
  return new RunFrames(source, { position: pausesGone(found) })
}

function pausesGone({ pause, rows }: FoundResponse): number {
  if (pause !== undefined) return pause - 1
  const pauses = new RunPauses()
  for (const row of rows) pauses.add(row)
  return pauses.overUpTo(rows.at(-1)?.position ?? 0)
}

/** Erases a response with its conversation, if it is the only one: later messages depend on it. */
export async function deleteResponse(c: Context<Env>, ports: ServerPorts): Promise<ResponseDeleted> {
  const { conversation, part, pause } = await findResponse(c, ports)
  const { id } = conversation
  const { items } = await ports.conversations.runs(id, { limit: 2 })
  if (items.length > 1 || part > 0 || pause !== undefined)
    throw failure("bad_request", {
      problem: `Its conversation has newer messages, so it cannot be deleted alone. DELETE /api/conversations/${id} deletes the whole conversation.`,
    })
  await eraseConversation(ports, userOf(c), id)
  return { id: c.req.param("id") ?? "", object: "response", deleted: true }
}

/** The input of a response: the message of its run, or the results that it continues with. */
export async function listInputItems(
  c: Context<Env>,
  ports: ServerPorts,
  { limit, order, after }: InputItemsQuery,
): Promise<InputItems> {
  const items = toItems(await findResponse(c, ports))
  if (order === "desc") items.reverse()
  const at = after === undefined ? -1 : items.findIndex(({ id }) => id === after)
  if (after !== undefined && at < 0) throw failure("not_found")
  const data = fitting(items.slice(at + 1, at + 1 + limit))
  return {
    ...{ object: "list", data, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null },
    has_more: at + 1 + data.length < items.length,
  }
}

function fitting(items: readonly ListedItem[]): ListedItem[] {
  let left = MAX_PAGE_BYTES
  const end = items.findIndex((item, at) => (left -= JSON.stringify(item).length) < 0 && at > 0)
  return items.slice(0, end < 0 ? items.length : end)
}

function toItems(found: FoundResponse): ListedItem[] {
  const { part, rows, pause = Number.POSITIVE_INFINITY } = found
  const selected = part > 0 ? joinResults(found) : rows.filter(({ position }) => position <= pause)
  return selected.flatMap((row) => toItem(row, found))
}

function toItem(row: JournalRow, { part, conversation }: FoundResponse): ListedItem[] {
  if (!isKnown(row)) return []
  if (row.type === "message" && row.role === "user") {
    const text = row.parts.map((each) => (each.type === "text" ? each.text : "")).join("")
    const content = [{ type: "input_text" as const, text }]
    return [{ id: row.id, type: "message", role: "user", status: "completed", content }]
  }
  if (row.type !== "tool_end" || part === 0) return []
  const call_id = toDelegatedCallId(row.callId, conversation.id)
  return [{ id: row.id, type: "function_call_output", status: "completed", call_id, output: row.text }]
}
