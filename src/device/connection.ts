import type { ClientClock } from "../client/clock.ts"
import {
  CLOSE,
  type CallOutcome,
  deviceKnowledge,
  PING_SECONDS,
  ServerFrame,
  type ToolCall,
} from "../protocol/socket.ts"
import type { LocalCalls } from "./local-calls.ts"

/** What is needed of a WebSocket: the platform's own has it, and so has that of `ws`. */
export interface DeviceSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: "open" | "error", listener: () => void): void
  addEventListener(type: "close", listener: (event: Closed) => void): void
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
}

export interface Closed {
  readonly code: number
  readonly reason: string
  /** The server has said why it does not want this one. */
  readonly refusedAs?: Refusal
}

/** `forbidden`: the token may not be a device. `device_taken`: another token is this device. */
type Refusal = "forbidden" | "device_taken"

export interface ServerConnection {
  readonly socket: DeviceSocket
  readonly hello: { readonly deviceId: string; readonly offers: readonly string[] }
  readonly calls: LocalCalls
  readonly clock: ClientClock
  /** Aborts when the device is closed: whoever has hung up does not wait for the other end to. */
  readonly signal: AbortSignal
  /** The server knows us now. */
  onRegistered(): void
  /** Something went wrong that no answer tells. */
  onProblem(problem: unknown): void
}

/** The server breaks every silence with a ping; after two that did not come the line is dead, whatever it looks like. */
export const SERVER_SILENCE_MS = 2.5 * PING_SECONDS * 1000

/** Says hello and answers on a socket until it closes. An answer goes to the socket that asked, or nowhere. */
export function runConnection(connection: ServerConnection): Promise<Closed> {
  const { socket, hello, clock, signal } = connection
  return new Promise((resolve) => {
    let open = false
    const unknown = new Set<string>()
    let silent = clock.alarm(SERVER_SILENCE_MS, hangUp)
    const send: Send = (frame) => {
      // Whoever asked is gone, and with it the question: what was done is in the ledger, for whoever asks next.
      if (open) socket.send(JSON.stringify(frame))
    }
    const leave = () => end({ code: 1000, reason: "closed" })
    signal.addEventListener("abort", leave, { once: true })
    socket.addEventListener("open", () => {
      open = true
      send({ type: "hello", deviceId: hello.deviceId, ledger: true, offers: hello.offers, knows: deviceKnowledge })
    })
    socket.addEventListener("message", ({ data }) => {
      if (!open) return // hung up already: there is nobody to answer, and soon no file
      silent()
      silent = clock.alarm(SERVER_SILENCE_MS, hangUp)
      answer({ ...connection, send, unknown, refused }, data)
    })
    socket.addEventListener("error", () => {}) // "close" follows and says all there is to say
    socket.addEventListener("close", ({ code, reason }) => end({ code, reason }))

    function refused(reason: string, as: Refusal) {
      socket.close()
      end({ code: CLOSE.revoked, reason, refusedAs: as })
    }
    function hangUp() {
      socket.close()
      // A dead line does not confirm its end either.
      end({ code: CLOSE.silent, reason: "nothing was heard of the server for too long" })
    }
    function end(closed: Closed) {
      open = false
      silent()
      signal.removeEventListener("abort", leave)
      resolve(closed)
    }
  })
}

const HANDED_OVER = "Its person has allowed another token to be this device, so this one no longer is."
const ASKED_FOR =
  "Another token of the same person asks to be this device. Its person decides, in the page under Settings, Devices; a token that nobody knows should be revoked there."

type Send = (frame: Readonly<Record<string, unknown>>) => void

interface Line extends ServerConnection {
  readonly send: Send
  /** Calls of which the server was told on this very socket that they never came. */
  readonly unknown: Set<string>
  /** The server does not take this one for a device, and would not the next time. */
  refused(reason: string, as: Refusal): void
}

function answer(line: Line, data: unknown): void {
  const { send } = line
  const frame = readFrame(data)
  switch (frame.type) {
    case "hello":
      return line.onRegistered()
    case "ping":
      return send({ type: "pong" })
    case "tool_call":
      return answerCall(line, frame)
    case "tool_status":
      return answerStatus(line, frame.id)
    case "tool_cancel":
      return line.calls.cancel(frame.id)
    case "bad_call":
      return send({ type: "tool_result", id: frame.id, error: frame.problem })
    case "device_claim":
      if (frame.status === "allowed") return line.refused(HANDED_OVER, "device_taken")
      return line.onProblem(new Error(ASKED_FOR))
    case "error":
      if (frame.code === "forbidden" || frame.code === "device_taken") return line.refused(frame.message, frame.code)
      return line.onProblem(new Error(`${frame.message} (${frame.code})`))
    default: // what a person watches, or what a newer server says: none of it is for a device
  }
}

function answerCall({ calls, send, unknown, onProblem }: Line, call: ToolCall): void {
  const { id } = call
  calls
    .perform(call, unknown.has(id) ? "knowing" : undefined)
    .then((outcome) => sendResult(id, outcome, send))
    .catch(onProblem)
}

function answerStatus({ calls, send, unknown, onProblem }: Line, id: string): void {
  try {
    const report = calls.report(id)
    if (!report) return
    if (report.status === "unknown") unknown.add(id)
    if (report.status !== "running") return send({ type: "tool_status", id, status: report.status, ...report.outcome })
    send({ type: "tool_status", id, status: "running" })
    report.ended.then((outcome) => sendResult(id, outcome, send)).catch(onProblem)
  } catch (problem) {
    onProblem(problem)
  }
}

function sendResult(id: string, outcome: CallOutcome | undefined, send: Send): void {
  if (outcome) send({ type: "tool_result", id, ...outcome })
}

type Read =
  | ServerFrame
  | { readonly type: "bad_call"; readonly id: string; readonly problem: string }
  | { type: "other" }

/** A call that cannot be understood is answered as far as it can be: silence would cost the run half a minute. */
function readFrame(data: unknown): Read {
  if (typeof data !== "string") return { type: "other" }
  let json: unknown
  try {
    json = JSON.parse(data)
  } catch {
    return { type: "other" }
  }
  const parsed = ServerFrame.safeParse(json)
  if (parsed.success) return parsed.data
  const { type, id } = Object(json) as { type?: unknown; id?: unknown }
  if (type !== "tool_call" || typeof id !== "string") return { type: "other" }
  const { path, message } = parsed.error.issues[0] ?? { path: [], message: "is not as agreed" }
  return { type: "bad_call", id, problem: `This call cannot be read: ${[...path.map(String), message].join(": ")}` }
}
