import { STATE_FRAME, type AgUiEvents } from "./events.ts"
import { reasoningFirst } from "../reasoning-first.ts"
import {
  type Env,
  type FrameSource,
  keepAliveOf,
  registerStream,
  type ServerPorts,
  STREAM_HEADERS,
  toTextStream,
} from "../../core/adapter.ts"
import type { CallId, ConversationId, MessageId, Proposal, UnknownFrame } from "../../core/protocol/index.ts"
import type { Context } from "hono"

/** A run to stream, and its context. */
export interface AgUiRun {
  readonly frames: FrameSource
  /** The frontend's message that it answers. */
  readonly own?: MessageId | undefined
  /** The calls from whose decision on it is streamed. */
  readonly calls?: ReadonlySet<CallId> | undefined
  /** These calls are the frontend's own, and so are their results. */
  readonly hasClientResults?: boolean
  readonly proposals: readonly Proposal[]
  readonly late: readonly object[]
  readonly ignored: readonly string[]
}

/** Adds the conversation's state before the frames, and again when a tool changes it. */
export function withState(
  { journal }: Pick<ServerPorts, "journal">,
  id: ConversationId,
  source: FrameSource,
): FrameSource {
  let lastState: string | undefined
  const stateFrames = async (): Promise<UnknownFrame[]> => {
    const { state } = await journal.load(id)
    const text = JSON.stringify(state)
    if (text === lastState) return []
    lastState = text
    return [{ id: "", type: STATE_FRAME, data: state }]
  }
  return {
    async next() {
      if (lastState === undefined) return stateFrames()
      const frames = await source.next()
      if (!frames) return undefined
      const ordered = reasoningFirst(frames)
      if (!frames.some(({ type }) => type === "tool_end")) return ordered
      // Before the frame that ends the run: nothing can follow that.
      const end = ordered.findIndex(({ type }) => type === "done" || type === "error")
      const at = end < 0 ? ordered.length : end
      return [...ordered.slice(0, at), ...(await stateFrames()), ...ordered.slice(at)]
    },
    close: () => source.close(),
  }
}

interface Told {
  readonly id: ConversationId
  readonly source: FrameSource
  readonly events: AgUiEvents
}

/** Streams a run to its end. The run continues if the client disconnects, and can be streamed again. */
export function streamEvents(c: Context<Env>, ports: ServerPorts, { id, source, events }: Told): Response {
  const open = registerStream(c.get("caller"), ports, source)
  c.header("x-pawl-conversation", id)
  return c.body(toTextStream(open, events, keepAliveOf(ports.clock)), 200, STREAM_HEADERS)
}
