import type { Context } from "hono"
import type { AgUiEvents } from "../../../dialects/ag-ui/events.ts"
import type { ConversationId } from "../../../protocol/ids.ts"
import type { Env } from "../../door/request-env.ts"
import { type FrameSource, STREAM_HEADERS } from "../../stream/event-stream.ts"
import { pulseOf } from "../../stream/keep-alive.ts"
import { openFor } from "../../stream/open-stream.ts"
import type { StreamPorts } from "../../stream/ports.ts"
import { toTextStream } from "../../stream/text-stream.ts"

interface Told {
  readonly id: ConversationId
  readonly source: FrameSource
  readonly events: AgUiEvents
}

/** Tells a run to its end. It goes on when its listener hangs up: it is kept, and the listener may come again. */
export function streamEvents(c: Context<Env>, ports: StreamPorts, { id, source, events }: Told): Response {
  const open = openFor(c.get("caller"), ports, source)
  c.header("x-pawl-conversation", id)
  return c.body(toTextStream(open, events, pulseOf(ports.clock)), 200, STREAM_HEADERS)
}
