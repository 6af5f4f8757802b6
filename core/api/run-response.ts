import type { RunId } from "../protocol/ids.ts"
import type { Frame, UnknownFrame } from "../protocol/frames.ts"
import { STREAM_HEADERS } from "../server/stream/event-stream.ts"
import type { FrameSource } from "../server/stream/frame-source.ts"
import type { Answer } from "./answer.ts"
import type { PartialAnswer } from "./partial-answer.ts"
import type { PawlEvent, PersonalParts } from "./parts.ts"

/** The events of `stream` or `observe`. */
export type RunEvents = AsyncIterable<PawlEvent | PartialAnswer, Answer | void | undefined>

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
    return { source, translate: (frame) => stream.translate(frame), end: () => ["data: [DONE]\n\n"] }
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
      end: (answer) => [
        ...(answer?.status === "waiting"
          ? stream.translate({ id: answer.cursor, type: "awaiting_confirmation", data: answer })
          : []),
        ...stream.translate({ id: "0", type: "done", data: { status: "paused" } }),
      ],
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
  /** Ends the response of a run that has not ended: its sub-agents wait for a decision. */
  end(answer: Answer | undefined): readonly string[]
}

async function* translated(
  parts: PersonalParts,
  events: RunEvents,
  open: (run: StartedRun) => Promise<Translation>,
): AsyncGenerator<string, void, undefined> {
  const iterator = events[Symbol.asyncIterator]()
  try {
    // The first event of a run names it, and its row names the conversation.
    let next = await iterator.next()
    while (!next.done && next.value.type !== "run_started") next = await iterator.next()
    if (next.done) return
    const run = (next.value as Frame<"run_started">).data.runId
    const queued = [next.value as UnknownFrame]
    let answer: Answer | undefined
    const source: FrameSource = {
      async next() {
        const first = queued.pop()
        if (first) return [first]
        const { done, value } = await iterator.next()
        if (!done) return [value]
        answer = value ?? undefined
        return undefined
      },
      close() {},
    }
    const translation = await open({ conversation: await conversationOfRun(parts, run), run, source })
    for (let frames = await translation.source.next(); frames; frames = await translation.source.next())
      for (const frame of frames) {
        const text = translation.translate(frame).join("")
        if (text) yield text
        if (frame.type === "done" || frame.type === "error") return
      }
    yield translation.end(answer).join("")
  } finally {
    await iterator.return?.()
  }
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
