import { backOff } from "../back-off.ts"
import { createClient } from "../client.ts"
import { type ClientClock, sleepOrAbort } from "../clock.ts"
import { AppError } from "../../core/protocol/errors.ts"
import { CLOSE } from "../../core/protocol/socket.ts"
import { type SocketCloseEvent, type ServerConnection, type DeviceSocket, runConnection } from "./connection.ts"

/** How a device connects to a server: the address and the token. */
export interface ConnectOptions {
  /** The address of the server, such as `http://127.0.0.1:7295`. */
  readonly server: string | URL
  /** A personal access token, or a function that returns one for each connection. */
  readonly token: string | (() => string | Promise<string>)
  readonly fetch?: typeof globalThis.fetch
  readonly WebSocket?: new (url: string, protocols: string[]) => DeviceSocket
  /** Returns a number from 0 to 1, which spreads the retries of many devices. */
  readonly random?: () => number
}

/** The state of a device's connection. */
export type DeviceState =
  | { readonly state: "connecting" }
  | { readonly state: "connected" }
  /** Reconnects in `retryInMs`; `reason` is the cause. */
  | { readonly state: "waiting"; readonly retryInMs: number; readonly reason: string }
  /** Permanently: the device was closed, or the server rejected it with `error`. */
  | { readonly state: "ended"; readonly error?: Error }

interface Staying extends Pick<ServerConnection, "hello" | "calls" | "onProblem"> {
  readonly reach: ConnectOptions
  readonly clock: ClientClock
  readonly signal: AbortSignal
  onState(state: DeviceState): void
}

/** A connection that lasted this long counts as stable. */
const STEADY_MS = 10_000
/** How long the server may take to create a ticket. */
export const TICKET_MS = 20_000
/**
 * The wait doubles up to half a second times 2⁴, minus a random part, so that devices reconnect within ten seconds
 * after a restart.
 */
const MAX_DOUBLED = 5

/**
 * Connects repeatedly until the signal aborts. Resolves with an error if the server rejects the device, because further
 * attempts would only send it a token that it rejects.
 */
export async function stayConnected(staying: Staying): Promise<Error | undefined> {
  const { reach, clock, signal, onState } = staying
  let failures = 0
  while (!signal.aborted) {
    onState({ state: "connecting" })
    const since = clock.now()
    const end = await connectOnce(staying)
    if (signal.aborted) return undefined
    if (end.error) return end.error
    failures = clock.now() - since >= STEADY_MS ? 1 : failures + 1
    const retryInMs = backOff({ failures: Math.min(failures, MAX_DOUBLED), random: reach.random ?? Math.random })
    onState({ state: "waiting", retryInMs, reason: end.reason })
    await sleepOrAbort(clock, retryInMs, signal).catch(() => {})
  }
  return undefined
}

/** Why a connection ended; with an error if there must not be another. */
interface End {
  readonly reason: string
  readonly error?: Error
}

async function connectOnce(staying: Staying): Promise<End> {
  const { reach, clock, signal, hello, calls, onProblem } = staying
  let ticket: string
  try {
    ticket = await fetchTicket(staying)
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown))
    const { status } = error as { status?: number }
    return { reason: error.message, ...(status === 401 || status === 403 ? { error } : {}) }
  }
  if (signal.aborted) return { reason: "closed" }
  const Socket = reach.WebSocket ?? globalThis.WebSocket
  const socket: DeviceSocket = new Socket(socketUrl(reach.server), [`pawl.ticket.${ticket}`])
  const hangUp = () => socket.close()
  signal.addEventListener("abort", hangUp)
  try {
    const onRegistered = () => staying.onState({ state: "connected" })
    return toEnd(await runConnection({ socket, hello, calls, clock, signal, onRegistered, onProblem }))
  } finally {
    signal.removeEventListener("abort", hangUp)
  }
}

/**
 * Fetches a ticket for one socket. The token is not sent in a header, because only the WebSocket of `ws` supports
 * headers; a ticket works in Node, Electron and browsers.
 */
async function fetchTicket({ reach, clock, signal }: Staying): Promise<string> {
  const { server, token, fetch } = reach
  const slow = new AbortController()
  const cancel = clock.alarm(TICKET_MS, () => slow.abort(new Error("The server took too long to let this device in.")))
  try {
    const client = createClient({ baseUrl: server, token, clock, ...(fetch ? { fetch } : {}) })
    return (await client.createTicket({ signal: AbortSignal.any([signal, slow.signal]) })).ticket
  } finally {
    cancel()
  }
}

function socketUrl(server: string | URL): string {
  return `${String(server)
    .replace(/(?<!\/)\/+$/, "")
    .replace(/^http/, "ws")}/api/ws`
}

function toEnd({ code, reason, refusedAs }: SocketCloseEvent): End {
  // The token is valid, so a new one would not help: the reason tells the person what to do.
  if (refusedAs === "device_taken") return { reason, error: new AppError("device_taken", reason) }
  if (code === CLOSE.revoked) {
    const message = `The server does not accept the token of this device${reason ? `: ${reason}` : ""}. \`pawl token create\` makes a new one.`
    return { reason: message, error: new AppError("unauthenticated", message) }
  }
  if (code === CLOSE.goingDown) return { reason: "the server goes down" }
  if (code === 1006) return { reason: "the connection broke" }
  return { reason: `the connection was closed: ${[reason, code].filter((part) => part !== "").join(", ")}` }
}
