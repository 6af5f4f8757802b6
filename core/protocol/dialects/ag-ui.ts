import { z } from "zod"
import { ClientTool } from "../conversation/tool-calls.ts"
import { boundedList } from "../../shared/text/bounded-list.ts"

/** The requests of AG-UI frontends. Unknown fields are ignored, as the specification requires. */

const Id = z.string().min(1).max(400)

const Part = z.looseObject({ type: z.string().max(100), text: z.string().optional() })

export const AgUiMessage = z.looseObject({
  id: Id,
  role: z.string().max(40),
  content: z.union([z.string(), boundedList(Part, 256), z.record(z.string(), z.unknown())]).nullish(),
  toolCallId: z.string().max(400).optional(),
  toolCalls: boundedList(z.looseObject({ id: Id }), 1000).optional(),
})
export type AgUiMessage = z.infer<typeof AgUiMessage>

/** A tool of the frontend, which it runs itself. */
export const AgUiTool = z.looseObject({
  name: ClientTool.shape.name,
  description: ClientTool.shape.description,
  parameters: ClientTool.shape.inputSchema.optional(),
})

/** An answer to a question of a run that waits for it. */
export const AgUiResume = z.looseObject({
  interruptId: Id,
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional(),
})
export type AgUiResume = z.infer<typeof AgUiResume>

export const AgUiRequest = z.looseObject({
  threadId: Id,
  runId: Id,
  messages: boundedList(AgUiMessage, 10_000),
  tools: boundedList(AgUiTool, 64).optional(),
  context: boundedList(z.looseObject({ description: z.string(), value: z.string() }), 64).optional(),
  state: z.unknown().optional(),
  forwardedProps: z.unknown().optional(),
  resume: boundedList(AgUiResume, 100).optional(),
})
export type AgUiRequest = z.infer<typeof AgUiRequest>
