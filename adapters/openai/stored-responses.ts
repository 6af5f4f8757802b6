import type { Context } from "hono"
import {
  ANSWER,
  isKnown,
  conversationOf,
  userOf,
  type Env,
  PendingCalls,
  type RunRange,
  runRows,
  type JournalRow,
  type ServerPorts,
  waitForEvent,
  type FrameSource,
  STREAM_HEADERS,
  type AnyFrame,
  pulseOf,
  FollowedPauses,
  openFor,
  subscribe,
  RunFrames,
  isEnd,
  toTextStream,
  toldRows,
  toldSource,
  withFirst,
  eraseConversation,
} from "../../core/adapter.ts"
import { readResponseId } from "./requests.ts"
import type { ConversationView, Run } from "../../core/protocol/conversation/conversation.ts"
import { failure } from "../../core/protocol/errors.ts"
import type { JournalEvent, EventOf } from "../../core/protocol/events.ts"
import type { CallId } from "../../core/protocol/ids.ts"
import { toModelName } from "./model-names.ts"
import { ResponseAnswer } from "./responses.ts"
import type {
  ResponseAnswered,
  ResponseQuery,
  ResponseDeleted,
  InputItems,
  InputItemsQuery,
  ListedItem,
} from "../../core/protocol/dialects/openai-responses.ts"
import { toAskedCallId } from "./content.ts"
import { MAX_PAGE_BYTES } from "../../core/protocol/requests.ts"

/** A response that was made before: a run, or the part of one that begins with results of its program's. */
export interface FoundResponse {
  readonly run: Run
  readonly conversation: ConversationView
  /** As its id names it: 0 for the first of its run. */
  readonly part: number
  /** Every row of its run that is on record, as far as a response tells it, and the first that is its own. */
  readonly rows: readonly JournalRow[]
  readonly from: number
  /** The pause after which its program has brought results: what follows is the next response. */
  readonly pause?: number
}

/** The response that the address names, if it is the caller's. Throws `not_found` otherwise. */
export async function findResponse(c: Context<Env>, ports: ServerPorts): Promise<FoundResponse> {
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
 * The rows of a run without what no response tells: what tools of ours have answered, and what was decided beside the
 * replies. That may be a thousand times as long as the rest.
 */
async function readShortened(ports: ServerPorts, run: RunRange): Promise<JournalRow[]> {
  const shortened: JournalRow[] = []
  const handed = new Set<CallId>()
  for await (const rows of runRows(ports, run))
    for (const row of rows) {
      if (isKnown(row) && row.type === "handed_over") handed.add(row.callId)
      shortened.push(isKnown(row) ? shorten(row, handed) : row)
    }
  return shortened
}

function shorten(row: JournalEvent, handed: ReadonlySet<CallId>): JournalEvent {
  if (row.type === "step" && row.step !== ANSWER) {
    const { detail: _, ...rest } = row
    return rest
  }
  if (row.type !== "tool_end" || handed.has(row.callId)) return row
  const { data: _, ...rest } = row
  return { ...rest, text: "" }
}

/** The rows with results that its program has brought. */
function resultsOf(rows: readonly JournalRow[]): ReadonlySet<number> {
  const handed = new Set<CallId>()
  const results = new Set<number>()
  for (const row of rows) {
    if (!isKnown(row)) continue
    if (row.type === "handed_over") handed.add(row.callId)
    if (row.type === "tool_end" && handed.has(row.callId)) results.add(row.position)
  }
  return results
}

interface Part {
  readonly from: number
  readonly results: ReadonlySet<number>
}

/** Where the part of a run paused that begins at a row, if results have come since. Those right behind it came with it. */
function pauseOf(rows: readonly JournalRow[], { from, results }: Part): number | undefined {
  const calls = new PendingCalls()
  let pausedAt: number | undefined
  let together = results.has(from)
  for (const row of rows) {
    if (row.position > from) together &&= results.has(row.position)
    if (row.position > from && !together && results.has(row.position) && pausedAt !== undefined) return pausedAt
    if (isKnown(row)) calls.see(row)
    if (row.position < from) continue
    pausedAt = calls.paused && !together ? (pausedAt ?? row.position) : undefined
  }
  return undefined
}

/** What comes with the row that a response begins with: results that were brought together. */
export function resultsTogether({ rows, from }: Pick<FoundResponse, "rows" | "from">): JournalRow[] {
  const results = resultsOf(rows)
  const behind = rows.filter(({ position }) => position >= from)
  const end = behind.findIndex(({ position }) => !results.has(position))
  return end < 0 ? behind : behind.slice(0, end)
}

/** A response as it stands, or its events from its beginning or from behind one of them: of a run at work as they come. */
export async function tellResponse(
  c: Context<Env>,
  ports: ServerPorts,
  { stream, starting_after: after }: ResponseQuery,
): Promise<ResponseAnswered | Response> {
  if (stream !== "true") return asItStands(await findResponse(c, ports))
  ports.streams.admit(c.get("caller"))
  const found = await findResponse(c, ports)
  const answer = answerOf(found, after)
  const source = openFor(c.get("caller"), ports, withFirst(framesBefore(found), await watch(ports, found)))
  return c.body(toTextStream(source, answer, pulseOf(ports.clock)), 200, STREAM_HEADERS)
}

/** Stops the run that makes it, also one that waits. Whoever comes too late finds it as it is. */
export async function cancelResponse(c: Context<Env>, ports: ServerPorts): Promise<ResponseAnswered> {
  const found = await findResponse(c, ports)
  const { conversation, run } = found
  if (run.status !== "running" && run.status !== "paused") return asItStands(found)
  using watching = waitForEvent(ports, conversation, (event) => event.type === "run_ended")
  // It may have ended since, and another one have begun, which is not meant.
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

/** What the request asked for is known as far as its words tell it. */
function answerOf({ run, conversation, part, rows }: FoundResponse, after?: number): ResponseAnswer {
  const words = rows.find((row): row is EventOf<"message"> => isKnown(row) && row.type === "message")
  const { temperature, parallelCalls } = words?.settings ?? {}
  const head = {
    ...{ model: toModelName(conversation), conversation: conversation.id, hasToFit: words?.schema !== undefined },
    created: Math.floor(Date.parse(run.startedAt) / 1000),
    ...(part > 0 ? { part } : {}),
  }
  const repeated = { temperature: temperature ?? null, parallel_tool_calls: parallelCalls ?? null }
  return new ResponseAnswer(head, repeated, after === undefined ? {} : { after })
}

/** Of a run that goes on with results: that it has begun, and which calls of its program's are open. */
function framesBefore({ conversation: { id }, rows, from, part }: FoundResponse): AnyFrame[] {
  if (part === 0) return []
  const before = rows.filter(({ position }) => position < from)
  const frames = toldRows(id, before, 0)
  return frames.filter(({ type }) => type === "run_started" || type === "handed_over" || type === "tool_end")
}

/** Of what is on record, to its end, without pauses that it has gone on from. */
function framesSoFar(found: FoundResponse): AnyFrame[] {
  const left = pausesGone(found)
  const isLeft = ({ id, type, data }: AnyFrame) =>
    type === "done" && (data as { status: string }).status === "paused" && Number(id) <= left
  const frames = toldRows(found.conversation.id, found.rows, found.from).filter((frame) => !isLeft(frame))
  const end = frames.findIndex(isEnd)
  return end < 0 ? frames : frames.slice(0, end + 1)
}

async function watch(ports: ServerPorts, found: FoundResponse): Promise<FrameSource> {
  const known = framesSoFar(found)
  if (known.some(isEnd)) return toldSource(known)
  const source = await subscribe(ports, { id: found.conversation.id, after: { position: found.from - 1, offset: 0 } })
  return new RunFrames(source, { position: pausesGone(found) })
}

function pausesGone({ pause, rows }: FoundResponse): number {
  if (pause !== undefined) return pause - 1
  const pauses = new FollowedPauses()
  for (const row of rows) pauses.see(row)
  return pauses.leftUpTo(rows.at(-1)?.position ?? 0)
}

/**
 * Erases a response with its conversation, where that is all there is in it. Of a longer one it would take an answer out of
 * the middle, which everything after it goes by.
 */
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

/** What a response was given: the words of its run, or the results that it goes on with. */
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
  const given = part > 0 ? resultsTogether(found) : rows.filter(({ position }) => position <= pause)
  return given.flatMap((row) => toItem(row, found))
}

function toItem(row: JournalRow, { part, conversation }: FoundResponse): ListedItem[] {
  if (!isKnown(row)) return []
  if (row.type === "message" && row.role === "user") {
    const text = row.parts.map((each) => (each.type === "text" ? each.text : "")).join("")
    const content = [{ type: "input_text" as const, text }]
    return [{ id: row.id, type: "message", role: "user", status: "completed", content }]
  }
  if (row.type !== "tool_end" || part === 0) return []
  const call_id = toAskedCallId(row.callId, conversation.id)
  return [{ id: row.id, type: "function_call_output", status: "completed", call_id, output: row.text }]
}
