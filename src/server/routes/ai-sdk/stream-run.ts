import type { Context } from "hono"
import { type GoesOnIn, RunChunks } from "../../../dialects/ai-sdk/run-chunks.ts"
import { UI_STREAM_HEADER, UiStream } from "../../../dialects/ai-sdk/ui-stream.ts"
import { thoughtsFirst } from "../../../dialects/thoughts-first.ts"
import type { ConversationId } from "../../../protocol/ids.ts"
import type { Env } from "../../door/request-env.ts"
import { type FrameSource, STREAM_HEADERS } from "../../stream/event-stream.ts"
import { pulseOf } from "../../stream/keep-alive.ts"
import { openFor } from "../../stream/open-stream.ts"
import { toTextStream } from "../../stream/text-stream.ts"
import type { AiSdkPorts } from "./ports.ts"

export interface StreamedRun {
  readonly id: ConversationId
  readonly frames: FrameSource
  /** The message of the client that it goes on with, behind a pause. */
  readonly goesOnIn?: GoesOnIn
}

/** Tells a run to its end. It goes on when its listener hangs up: it is kept, and the listener may come again. */
export function streamRun(c: Context<Env>, ports: AiSdkPorts, { id, frames, goesOnIn }: StreamedRun): Response {
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
