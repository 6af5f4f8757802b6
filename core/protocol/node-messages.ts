import { z } from "zod"
import { ids } from "./schema.ts"
import { CallOutcome, CallReport, ToolCall } from "./socket.ts"

/**
 * Messages between nodes. They come from outside the process, so they are validated. Unknown types are of newer nodes
 * and are ignored.
 */
const AskId = z.string().min(1).max(100)
const CallName = z.string().min(1).max(200)
/** The number that the database assigned to a device's socket. */
const Line = z.number().int()
const Milliseconds = z
  .number()
  .min(0)
  .max(24 * 60 * 60 * 1000)

/** A request that may be repeated. */
const DeviceRead = z.object({
  type: z.literal("device_read"),
  id: AskId,
  line: Line,
  call: ToolCall,
  ms: Milliseconds,
})
/** The read is no longer needed. */
const DeviceStop = z.object({ type: z.literal("device_stop"), id: AskId })
/** A write takes two steps: without a ticket of the device's own node nothing is sent to the device. */
const DeviceTicket = z.object({ type: z.literal("device_ticket"), id: AskId, line: Line, callId: CallName })
const DeviceWrite = z.object({
  type: z.literal("device_write"),
  id: AskId,
  ticket: z.string().min(1).max(100),
  call: ToolCall,
  ms: Milliseconds,
})
/** Asks the device for the status of a call. */
const DeviceReport = z.object({ type: z.literal("device_report"), id: AskId, line: Line, callId: CallName })

const Answer = z.discriminatedUnion("is", [
  z.object({ is: z.literal("outcome"), outcome: CallOutcome }),
  /** The call ended without a response of the device. */
  z.object({ is: z.literal("ended"), how: z.enum(["closed", "silent", "stopped", "unknown"]) }),
  /** The device answered, and its answer cannot be read. */
  z.object({ is: z.literal("unreadable"), problem: z.string() }),
  z.object({ is: z.literal("ticket"), ticket: z.string().min(1).max(100) }),
  /** The ticket came too late: the call was not sent, and never will be under this ticket. */
  z.object({ is: z.literal("expired") }),
  z.object({ is: z.literal("report"), report: CallReport.nullable() }),
  /** That socket is not here, or is no device any more. Nothing was sent. */
  z.object({ is: z.literal("absent") }),
  /** Refused before anything was sent. */
  z.object({ is: z.literal("refused"), code: z.string().nullable(), message: z.string() }),
])
const DeviceAnswer = z.object({ type: z.literal("device_answer"), id: AskId, answer: Answer })
export type DeviceAnswer = z.infer<typeof Answer>

/** Another credential requests to be this device. */
const DeviceAsked = z.object({ type: z.literal("device_asked"), line: Line })
/** From now on that device is this credential's. */
const DeviceTaken = z.object({
  type: z.literal("device_taken"),
  user: ids.user,
  deviceId: z.string(),
  lineage: z.string(),
})

export const NodeMessage = z.discriminatedUnion("type", [
  DeviceRead,
  DeviceStop,
  DeviceTicket,
  DeviceWrite,
  DeviceReport,
  DeviceAnswer,
  DeviceAsked,
  DeviceTaken,
])
export type NodeMessage = z.infer<typeof NodeMessage>
export type NodeMessageOf<Type extends NodeMessage["type"]> = Extract<NodeMessage, { type: Type }>

/** How the processes that share a database speak to each other. */
export interface NodeMessages {
  /** This node's id. */
  readonly self: string
  /**
   * False: it was certainly not passed on. True does not mean that it arrived, because each message may be lost, late
   * or doubled.
   */
  send(to: string, message: NodeMessage): Promise<boolean>
  subscribe(listener: (message: NodeMessage, from: string) => void): () => void
}
