import { parseCursor } from "../protocol/cursor.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import type { Frame, UnknownFrame } from "../protocol/frames.ts"
import { STREAM_HEADERS } from "../server/stream/event-stream.ts"
import { FrameMaker } from "../server/stream/frame-maker.ts"
import type { FrameSource } from "../server/stream/frame-source.ts"
import { type RunRange, runRows } from "../server/stream/journal-runs.ts"
import { isEnd } from "../server/stream/subscription.ts"
import type { Answer } from "./answer.ts"
import type { PlacedRun } from "./follow.ts"
import type { PartialAnswer } from "./partial-answer.ts"
import type { PawlEvent, PersonalParts } from "./parts.ts"

/** The events of `stream` or `observe`. */
export type RunEvents = AsyncIterable<PawlEvent | PartialAnswer, Answer | void | undefined>

/** Finds the run of events, once the first was requested. */
export interface EventsOrigin {
  find?: () => Promise<{ readonly id: ConversationId; readonly run: PlacedRun } | undefined>
}

const origins = new WeakMap<object, EventsOrigin>()

/** Remembers where events come from, so that they can be converted also from the middle of a run. */
export function withOrigin<Events extends object>(open: (origin: EventsOrigin) => Events): Events {
  const origin: EventsOrigin = {}
  const events = open(origin)
  origins.set(events, origin)
  return events
}

/** The thread and the run as a frontend of AG-UI named them. Default: the ids of the conversation and of its run. */
export interface AGUINames {
  readonly threadId?: string
  readonly runId?: string
}

/** Converts the events of a run to the response that `useChat` of the AI SDK reads. */
export function toUIMessageStreamResponse(parts: PersonalParts, events: RunEvents, init?: ResponseInit): Response {
  const texts = translated(parts, events, async ({ conversation, source }) => {
    const [{ UiStream }, { RunChunks }] = await Promise.all([
      import("../../adapters/ai-sdk/stream-run.ts"),
      import("../../adapters/ai-sdk/run-chunks.ts"),
    ])
    const stream = new UiStream(new RunChunks(conversation))
    return { source, translate: (frame) => stream.translate(frame) }
  })
  return toResponse(texts, init, { "x-vercel-ai-ui-message-stream": "v1" })
}

/** Converts the events of a run to the response that frontends of AG-UI read. */
export function toAGUIStreamResponse(
  parts: PersonalParts,
  events: RunEvents,
  { threadId, runId, ...init }: AGUINames & ResponseInit = {},
): Response {
  const texts = translated(parts, events, async ({ conversation, run, source }) => {
    const [{ AgUiEvents }, { withState }] = await Promise.all([
      import("../../adapters/ag-ui/events.ts"),
      import("../../adapters/ag-ui/run-stream.ts"),
    ])
    const stream = new AgUiEvents({
      ...{ threadId: threadId ?? conversation, runId: runId ?? run, conversation },
      ...{ messages: [], isReset: false, state: undefined, open: [], late: [] },
    })
    let isOwn = true
    return {
      source: withState(parts.ports, conversation, source),
      translate(frame) {
        if (!isOwn || frame.type !== "message") return stream.translate(frame)
        isOwn = false // the frontend shows the message that it sent
        return []
      },
    }
  })
  return toResponse(texts, init)
}

interface StartedRun {
  readonly conversation: Awaited<ReturnType<typeof conversationOfRun>>
  readonly run: RunId
  readonly source: FrameSource
}

interface Translation {
  readonly source: FrameSource
  translate(frame: UnknownFrame): readonly string[]
}

/** Ends the response of events without an end: sub-agents wait for a decision, or the run was over before. */
function endOf(answer: Answer | undefined): UnknownFrame[] {
  const id = answer?.cursor ?? "0"
  if (answer?.status === "failed") return [{ id, type: "error", data: answer.error }]
  const status = { answered: "completed", cancelled: "cancelled", waiting: "paused" }[answer?.status ?? "waiting"]
  const waits = answer?.status === "waiting" ? [{ id, type: "awaiting_confirmation", data: answer }] : []
  return [...waits, { id, type: "done", data: { status } }]
}

async function* translated(
  parts: PersonalParts,
  events: RunEvents,
  open: (run: StartedRun) => Promise<Translation>,
): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    const first = await iterator.next()
    const { run, before } = await beginningOf(parts, first.done ? undefined : first.value, origins.get(events))
    let queued: IteratorResult<PawlEvent | PartialAnswer, Answer | void | undefined> | undefined = first
    let answer: Answer | undefined
    const source: FrameSource = {
      async next() {
        const { done, value } = queued ?? (await iterator.next())
        queued = undefined
        if (!done) return [value]
        answer = value ?? undefined
        return undefined
      },
      close() {},
    }
    const translation = await open({ conversation: await conversationOfRun(parts, run), run, source })
    for await (const frame of before) {
      const text = translation.translate(frame)
      if (frame.type === "run_started") yield text.join("") // the client has the rest
    }
    for (let frames = await translation.source.next(); frames; frames = await translation.source.next())
      for (const frame of frames) {
        const text = translation.translate(frame).join("")
        if (text) yield text
        if (frame.type === "done" || frame.type === "error") return
      }
    for (const frame of endOf(answer)) yield translation.translate(frame).join("")
  } finally {
    await iterator.return?.()
  }
}

interface BeginningOfRun {
  readonly run: RunId
  /** The frames before the first event. */
  readonly before: AsyncIterable<UnknownFrame> | readonly UnknownFrame[]
}

async function beginningOf(
  parts: PersonalParts,
  first: PawlEvent | PartialAnswer | undefined,
  origin: EventsOrigin | undefined,
): Promise<BeginningOfRun> {
  if (first?.type === "run_started") return { run: (first as Frame<"run_started">).data.runId, before: [] }
  const found = await origin?.find?.()
  if (!found)
    throw new TypeError("These events do not begin with run_started. Pass what stream or observe returns, unchanged.")
  const { id, run } = found
  const at = first && parseCursor(first.id)
  // An event of the journal is the last at its position; text follows it.
  const position = at ? at.position - (first.type.endsWith("_delta") ? 0 : 1) : Number.MAX_SAFE_INTEGER
  return { run: run.runId, before: framesOf(parts, { id, start: run.position, position }) }
}

async function* framesOf({ ports }: PersonalParts, range: RunRange): AsyncGenerator<UnknownFrame, void, undefined> {
  const frames = new FrameMaker(range.id)
  for await (const rows of runRows(ports, range))
    for (const row of rows) yield* frames.rows(row, 0).filter((frame) => !isEnd(frame))
}

/** The run continues if the client disconnects. */
function toResponse(
  texts: AsyncGenerator<string, void, undefined>,
  init: ResponseInit = {},
  more: Readonly<Record<string, string>> = {},
): Response {
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await texts.next()
      if (done) controller.close()
      else controller.enqueue(encoder.encode(value))
    },
    async cancel() {
      await texts.return(undefined)
    },
  })
  const headers = new Headers(init.headers)
  for (const [name, value] of Object.entries({ ...STREAM_HEADERS, ...more })) headers.set(name, value)
  return new Response(body, { ...init, headers })
}

async function conversationOfRun({ store, user }: PersonalParts, id: RunId) {
  const run = await store.conversations.run(await user(), id)
  if (!run) throw new TypeError("These events are not those of a run of this user.")
  return run.conversationId
}
