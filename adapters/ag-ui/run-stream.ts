import { STATE_FRAME, type AgUiEvents } from "./events.ts"
import { thoughtsFirst } from "../thoughts-first.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { CallId, ConversationId, MessageId } from "../../core/protocol/ids.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import {
  type FrameSource,
  type ServerPorts,
  type Env,
  STREAM_HEADERS,
  pulseOf,
  openFor,
  toTextStream,
} from "../../core/adapter.ts"
import type { Context } from "hono"

/** A run that a frontend is told, and what it has to know beside its frames. */
export interface AgUiRun {
  readonly frames: FrameSource
  /** The words of the frontend that it answers. */
  readonly own?: MessageId | undefined
  /** Told from the decision about these calls on. */
  readonly calls?: ReadonlySet<CallId> | undefined
  /** These calls are the frontend's own, and so are their results. */
  readonly isBrought?: boolean
  readonly proposals: readonly Proposal[]
  readonly late: readonly object[]
  readonly ignored: readonly string[]
}

/** The frames of a run with the conversation's state before them, and again whenever a tool has changed it. */
export function withState(
  { journal }: Pick<ServerPorts, "journal">,
  id: ConversationId,
  source: FrameSource,
): FrameSource {
  let told: string | undefined
  const stateFrames = async (): Promise<UnknownFrame[]> => {
    const { state } = await journal.load(id)
    const text = JSON.stringify(state)
    if (text === told) return []
    told = text
    return [{ id: "", type: STATE_FRAME, data: state }]
  }
  return {
    async next() {
      if (told === undefined) return stateFrames()
      const frames = await source.next()
      if (!frames) return undefined
      const ordered = thoughtsFirst(frames)
      if (!frames.some(({ type }) => type === "tool_end")) return ordered
      // Before the frame that ends the run: nothing can be told behind it.
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

/** Tells a run to its end. It goes on when its listener hangs up: it is kept, and the listener may come again. */
export function streamEvents(c: Context<Env>, ports: ServerPorts, { id, source, events }: Told): Response {
  const open = openFor(c.get("caller"), ports, source)
  c.header("x-pawl-conversation", id)
  return c.body(toTextStream(open, events, pulseOf(ports.clock)), 200, STREAM_HEADERS)
}
