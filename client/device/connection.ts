import { type KeyObject, createHash, createPublicKey, verify } from "node:crypto"
import { approvalText } from "../../core/protocol/calls/follow-calls.ts"
import {
  CLOSE,
  type CallOutcome,
  PING_SECONDS,
  ServerFrame,
  type ToolCall,
  deviceKnowledge,
} from "../../core/protocol/socket.ts"
import { jsonLimits, readJson } from "../../core/shared/text/read-json.ts"
import type { ClientClock } from "../clock.ts"
import type { LocalCalls } from "./local-calls.ts"

/** The methods of a WebSocket that a device uses. The platform's WebSocket and that of `ws` have them. */
export interface DeviceSocket {
  send(text: string): void
  close(code?: number, reason?: string): void
  addEventListener(type: "open" | "error", listener: () => void): void
  addEventListener(type: "close", listener: (event: SocketCloseEvent) => void): void
  addEventListener(type: "message", listener: (event: { readonly data: unknown }) => void): void
}

/** How a device's WebSocket was closed, as reported by its `close` event. */
export interface SocketCloseEvent {
  readonly code: number
  readonly reason: string
  /** Set if the server rejected the device. */
  readonly refusedAs?: Refusal
}

/** `forbidden`: the token may not register a device. `device_taken`: the device belongs to another token. */
type Refusal = "forbidden" | "device_taken"

export interface ServerConnection {
  readonly socket: DeviceSocket
  readonly hello: { readonly deviceId: string; readonly offers: readonly string[] }
  readonly calls: LocalCalls
  readonly clock: ClientClock
  /** Aborts when the device is closed, so that closing does not wait for the server. */
  readonly signal: AbortSignal
  /** Called when the server has registered the device. */
  onRegistered(): void
  /** Reports a problem that no answer can contain. */
  onProblem(problem: unknown): void
}

/**
 * The server sends a ping whenever the connection is silent. After two missing pings the connection is considered lost.
 */
export const SERVER_SILENCE_MS = 2.5 * PING_SECONDS * 1000

/** Registers the device and answers calls until the socket closes. An answer is sent only to the socket of its call. */
export function runConnection(connection: ServerConnection): Promise<SocketCloseEvent> {
  const { socket, hello, clock, signal } = connection
  return new Promise((resolve) => {
    let open = false
    const unknown = new Set<string>()
    const registering: Registering = { approvals: undefined, early: [] }
    let silent = clock.alarm(SERVER_SILENCE_MS, hangUp)
    const send: Send = (frame) => {
      // A result for a closed socket is not sent: it is in the ledger, for the next status request.
      if (open) socket.send(JSON.stringify(frame))
    }
    const leave = () => end({ code: 1000, reason: "closed" })
    signal.addEventListener("abort", leave, { once: true })
    socket.addEventListener("open", () => {
      open = true
      send({ type: "hello", deviceId: hello.deviceId, ledger: true, offers: hello.offers, knows: deviceKnowledge })
    })
    socket.addEventListener("message", ({ data }) => {
      if (!open) return // already closed: there is no one to answer
      silent()
      silent = clock.alarm(SERVER_SILENCE_MS, hangUp)
      answer({ ...connection, send, unknown, registering, refused }, data)
    })
    socket.addEventListener("error", () => {}) // "close" follows with the details
    socket.addEventListener("close", ({ code, reason }) => end({ code, reason }))

    function refused(reason: string, as: Refusal) {
      socket.close()
      end({ code: CLOSE.revoked, reason, refusedAs: as })
    }
    function hangUp() {
      socket.close()
      // A dead connection does not confirm its end.
      end({ code: CLOSE.silent, reason: "no message from the server arrived for too long" })
    }
    function end(closed: SocketCloseEvent) {
      open = false
      silent()
      signal.removeEventListener("abort", leave)
      resolve(closed)
    }
  })
}

const HANDED_OVER = "Its person has allowed another token to be this device, so this one no longer is."
const ASKED_FOR =
  "Another token of the same user asks to be this device. Decide in the settings, under Devices. Revoke the token there if you do not know it."

const NOT_APPROVED =
  "This device has not done it: the change came without a signature of the server that it was approved. If several nodes of different " +
  "versions are at work, try again when all are updated."

/** The server's answer to `hello`. */
interface Registering {
  /** Undefined until the server has answered. */
  approvals: Approvals | undefined
  /** Calls that arrived before the answer. */
  readonly early: (() => void)[]
}

type Send = (frame: Readonly<Record<string, unknown>>) => void

interface Line extends ServerConnection {
  readonly send: Send
  /** Calls that were reported as unknown on this socket. */
  readonly unknown: Set<string>
  readonly registering: Registering
  /** The server rejected the device, and would reject it again. */
  refused(reason: string, as: Refusal): void
}

function answer(line: Line, data: unknown): void {
  const { send } = line
  const frame = readFrame(data)
  switch (frame.type) {
    case "hello":
      return register(line, frame.approvalKeys)
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
    default: // not for devices: events that a person watches, and frames of newer servers
  }
}

/**
 * Stores the server's approval keys. From now on each change must be signed; changes that arrived earlier are checked
 * now.
 */
function register({ hello, registering, onRegistered, onProblem, refused }: Line, keys: readonly string[] = []): void {
  try {
    registering.approvals = new Approvals(hello.deviceId, keys)
  } catch (problem) {
    onProblem(problem)
    return refused("The server's key for approvals cannot be read.", "forbidden")
  }
  onRegistered()
  for (const answerNow of registering.early.splice(0)) answerNow()
}

function answerCall(line: Line, call: ToolCall): void {
  const { calls, send, unknown, registering, onProblem } = line
  const { id } = call
  const knowing = unknown.has(id) ? "knowing" : undefined
  if (!registering.approvals) return void registering.early.push(() => perform())
  perform()

  function perform(): void {
    if (calls.isChange(call.action) && !registering.approvals?.allow(call)) {
      onProblem(new Error(`${NOT_APPROVED} (${call.action})`))
      return send({ type: "tool_result", id, error: NOT_APPROVED })
    }
    calls
      .perform(call, knowing)
      .then((outcome) => sendResult(id, outcome, send))
      .catch(onProblem)
  }
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

/**
 * Parses a frame. An invalid call is answered with an error, because without an answer the run would wait for half a
 * minute.
 */
function readFrame(data: unknown): Read {
  if (typeof data !== "string") return { type: "other" }
  let json: unknown
  try {
    json = readJson(data, jsonLimits.workspace)
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

/**
 * The keys that the server sent over the device's own connection. Each change must be signed with one of them, so that a
 * message forged between the server's nodes cannot be executed here.
 */
class Approvals {
  readonly #deviceId: string
  readonly #keys: readonly KeyObject[]

  /** Throws if a key cannot be parsed: otherwise a server that signs would be taken for one that does not. */
  constructor(deviceId: string, keys: readonly string[]) {
    this.#deviceId = deviceId
    this.#keys = keys.map((x) => createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" }))
  }

  /** Whether a change may be executed. A server without keys does not sign. */
  allow(call: ToolCall): boolean {
    if (this.#keys.length === 0) return true
    const text = Buffer.from(approvalText(call, this.#deviceId, sha256))
    const signatures = (call.approvals ?? []).map((each) => Buffer.from(each, "base64url"))
    return signatures.some((signature) => this.#keys.some((key) => verify(null, text, key, signature)))
  }
}

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex")
