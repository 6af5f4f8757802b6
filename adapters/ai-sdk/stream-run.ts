import type { Context } from "hono"
import { type ContinuedMessage, RunChunks } from "./run-chunks.ts"
import { reasoningFirst } from "../reasoning-first.ts"
import {
  type Env,
  type FrameSource,
  isOpen,
  keepAliveOf,
  type NewestRun,
  registerStream,
  type ServerPorts,
  STREAM_HEADERS,
  toTextStream,
  type UiStopped,
  type UiStopRequest,
  type UiStreamQuery,
  userOf,
  waitForEvent,
  watchRun,
} from "../../core/adapter.ts"
import type { ConversationId, UnknownFrame } from "../../core/protocol/index.ts"
import type { z } from "zod"
import { runOfNamedChat } from "./chat-conversation.ts"
import type { UiChunk } from "./call-chunks.ts"

export interface StreamedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** The client's message in which it continues after a pause. */
  readonly continuesIn?: ContinuedMessage
}

/** Streams a run to its end. The run continues if the client disconnects, and can be streamed again. */
export function streamRun(c: Context<Env>, ports: ServerPorts, { id, frames, continuesIn }: StreamedRun): Response {
  const source = registerStream(c.get("caller"), ports, {
    next: async () => {
      const next = await frames.next()
      return next && reasoningFirst(next)
    },
    close: () => frames.close(),
  })
  const stream = toTextStream(source, new UiStream(new RunChunks(id, continuesIn)), keepAliveOf(ports.clock))
  return c.body(stream, 200, { ...STREAM_HEADERS, ...UI_STREAM_HEADER, "x-pawl-conversation": id })
}

/**
 * How long after its end a run is streamed to a client that resumes. The client does not say how much it has: one that was
 * cut off before the end would otherwise keep half an answer.
 */
const LATELY_MS = 15 * 60_000

/**
 * Streams the newest run from its beginning, for a client that was cut off or reloaded. 204 if there is no open or recent
 * run, unless `ended` asks for it.
 */
export async function resumeStream(
  c: Context<Env>,
  ports: ServerPorts,
  { ended }: z.infer<typeof UiStreamQuery>,
): Promise<Response> {
  const newest = await runOfNamedChat(c, ports)
  if (!newest || !isShown(newest.run, ended, ports.clock.now())) return c.body(null, 204)
  const { id, position } = newest.found
  ports.streams.admit(c.get("caller"))
  return streamRun(c, ports, { id, frames: await watchRun(ports, { id, start: newest.run.start, position }) })
}

function isShown(run: NewestRun, ended: "true" | "false" | undefined, now: number): boolean {
  if (isOpen(run) || ended !== undefined) return isOpen(run) || ended === "true"
  return run.endedAt !== null && now - Date.parse(run.endedAt) < LATELY_MS
}

/** Stops the run. Disconnecting does not, because the client may reconnect. */
export async function stopStream(
  c: Context<Env>,
  ports: ServerPorts,
  { activeStreamId }: z.infer<typeof UiStopRequest>,
): Promise<UiStopped> {
  const newest = await runOfNamedChat(c, ports)
  if (!newest || !isOpen(newest.run)) return { stopped: false }
  const { found, run } = newest
  if (activeStreamId && activeStreamId !== run.runId) return { stopped: false }
  using watching = waitForEvent(ports, found, (event) => event.type === "run_ended")
  const only = activeStreamId ? { run: activeStreamId } : {} // a newer run may have started since
  await ports.runtime.submit(found.id, { type: "cancel", by: userOf(c), ...only })
  await watching.over()
  const after = await ports.conversations.run(userOf(c), run.runId)
  return { stopped: after?.status === "cancelled" }
}

/** Marks the response as a UI message stream. */
const UI_STREAM_HEADER = { "x-vercel-ai-ui-message-stream": "v1" }

/** A run as the events of a UI message stream. */
export class UiStream {
  readonly #chunks: RunChunks

  constructor(chunks: RunChunks) {
    this.#chunks = chunks
  }

  get isOver(): boolean {
    return this.#chunks.isOver
  }

  translate(frame: UnknownFrame): string[] {
    const encoded = this.#chunks.read(frame).map(toEvent)
    return this.isOver ? [...encoded, "data: [DONE]\n\n"] : encoded
  }
}

const toEvent = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`
