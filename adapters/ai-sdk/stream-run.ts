import type { Context } from "hono"
import { type GoesOnIn, RunChunks } from "./run-chunks.ts"
import { thoughtsFirst } from "../thoughts-first.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import {
  type Env,
  type FrameSource,
  STREAM_HEADERS,
  pulseOf,
  openFor,
  toTextStream,
  type ServerPorts,
  isOpen,
  type NewestRun,
  watchRun,
  waitForEvent,
  userOf,
} from "../../core/adapter.ts"
import type { z } from "zod"
import type { UiStreamQuery, UiStopped, UiStopRequest } from "../../core/protocol/dialects/ai-sdk.ts"
import { runOfNamedChat } from "./chat-conversation.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { UiChunk } from "./call-chunks.ts"

export interface StreamedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** The message of the client that it goes on with, behind a pause. */
  readonly goesOnIn?: GoesOnIn
}

/** Tells a run to its end. It goes on when its listener hangs up: it is kept, and the listener may come again. */
export function streamRun(c: Context<Env>, ports: ServerPorts, { id, frames, goesOnIn }: StreamedRun): Response {
  const source = openFor(c.get("caller"), ports, {
    next: async () => {
      const next = await frames.next()
      return next && thoughtsFirst(next)
    },
    close: () => frames.close(),
  })
  const stream = toTextStream(source, new UiStream(new RunChunks(id, goesOnIn)), pulseOf(ports.clock))
  return c.body(stream, 200, { ...STREAM_HEADERS, ...UI_STREAM_HEADER, "x-pawl-conversation": id })
}

/**
 * For so long after its end a run is told to whoever resumes. A client does not tell how much it has: one that was cut off
 * just before the end would keep half an answer, and one that has it all is told it again.
 */
const LATELY_MS = 15 * 60_000

/**
 * The newest run from its beginning, for whoever was cut off or has reloaded their page: their message is made anew of it.
 * Nothing where none is open or has ended lately, or, for who asks for that too, where there was none.
 */
export async function resumeStream(
  c: Context<Env>,
  ports: ServerPorts,
  { ended }: z.infer<typeof UiStreamQuery>,
): Promise<Response> {
  const newest = await runOfNamedChat(c, ports)
  if (!newest || !isTold(newest.run, ended, ports.clock.now())) return c.body(null, 204)
  const { id, position } = newest.found
  ports.streams.admit(c.get("caller"))
  return streamRun(c, ports, { id, frames: await watchRun(ports, { id, start: newest.run.start, position }) })
}

function isTold(run: NewestRun, ended: "true" | "false" | undefined, now: number): boolean {
  if (isOpen(run) || ended !== undefined) return isOpen(run) || ended === "true"
  return run.endedAt !== null && now - Date.parse(run.endedAt) < LATELY_MS
}

/** Stops the run for good. To hang up does not: whoever hangs up may come again. */
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
  const only = activeStreamId ? { run: activeStreamId } : {} // it may have ended since, and another have begun
  await ports.runtime.submit(found.id, { type: "cancel", by: userOf(c), ...only })
  await watching.over()
  const after = await ports.conversations.run(userOf(c), run.runId)
  return { stopped: after?.status === "cancelled" }
}

/** By which clients know that they are told a message and no plain text. */
export const UI_STREAM_HEADER = { "x-vercel-ai-ui-message-stream": "v1" }

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
    const told = this.#chunks.read(frame).map(toEvent)
    return this.isOver ? [...told, "data: [DONE]\n\n"] : told
  }
}

const toEvent = (chunk: UiChunk): string => `data: ${JSON.stringify(chunk)}\n\n`
