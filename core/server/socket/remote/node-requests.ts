import { randomUUID } from "node:crypto"
import { type Clock, monotonicOf, machineTimeOf } from "../../../shared/time/clock.ts"
import type { DeviceAnswer, NodeMessageOf, NodeMessages } from "../../../protocol/node-messages.ts"
import type { Log } from "../../../shared/log.ts"
import type { DevicePresence } from "../../../engine/devices.ts"
import { codeOf } from "../../../protocol/errors.ts"
import type { DeviceConnection } from "../device-connection.ts"
import { type CallEnd, isUnreadable } from "../device-connection.ts"

type DeviceRequest = NodeMessageOf<"device_read" | "device_ticket" | "device_write" | "device_report">
type RequestBody = { [Type in DeviceRequest["type"]]: Omit<NodeMessageOf<Type>, "id"> }[DeviceRequest["type"]]

/**
 * The other node's answer, or why there is none: the node failed, it cannot have received the request, or it did not answer.
 */
export type NodeReply = DeviceAnswer | { readonly is: "dead" | "unsent" | "silence" }

/** An open request. */
export interface OpenRequest {
  readonly reply: Promise<NodeReply>
  /** Stops waiting, with this result. */
  end(reply: NodeReply): void
  /** Notifies the other node that the result is no longer needed. It is still awaited. */
  unwanted(): void
}

interface Waiting {
  readonly node: string
  /** How often its node was missing among the live ones. */
  missed: number
  settle(reply: NodeReply): void
}

interface OutgoingPorts {
  readonly messages: NodeMessages
  readonly presence: Pick<DevicePresence, "living">
  readonly clock: Clock
  readonly log: Log
}

/** How often the nodes of open requests are checked. */
const CHECK_MS = 1000
/** An answer may have been on its way when its node was declared failed: it may arrive until the second check. */
const CHECKS = 2

/** Requests to other nodes. Each gets one answer; duplicates and late answers are ignored. */
export class OutgoingRequests implements Disposable {
  readonly #ports: OutgoingPorts
  readonly #waiting = new Map<string, Waiting>()
  #stopChecking: (() => void) | undefined
  #closed = false

  constructor(ports: OutgoingPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#waiting.size
  }

  open(node: string, body: RequestBody): OpenRequest {
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<NodeReply>()
    const settle = (reply: NodeReply) => {
      this.#waiting.delete(id)
      resolve(reply)
    }
    if (this.#closed) return { reply: Promise.resolve({ is: "unsent" }), end: settle, unwanted() {} }
    this.#waiting.set(id, { node, missed: 0, settle })
    const { messages, log } = this.#ports
    messages.send(node, { ...body, id }).then(
      (wasSent) => wasSent || settle({ is: "unsent" }),
      (error: unknown) => log.warn("ask_not_sent", { error }), // it may have been sent: then an answer arrives
    )
    this.#checkLater()
    const unwanted = () => {
      if (this.#waiting.has(id)) this.#sendStop(node, id)
    }
    const stops = body.type === "device_read"
    const end = (reply: NodeReply) => {
      if (stops) unwanted()
      settle(reply)
    }
    return { reply: promise, end, unwanted }
  }

  /** Waits for the answer until the timeout, or until `signal` aborts. */
  async ask(node: string, body: RequestBody, { ms, signal }: { ms: number; signal?: AbortSignal }): Promise<NodeReply> {
    const { reply, end } = this.open(node, body)
    const stop = () => end({ is: "ended", how: "stopped" })
    const giveUp = this.#ports.clock.alarm(ms, () => end({ is: "silence" }))
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    try {
      return await reply
    } finally {
      giveUp()
      signal?.removeEventListener("abort", stop)
    }
  }

  receive({ id, answer }: NodeMessageOf<"device_answer">, from: string): void {
    const waiting = this.#waiting.get(id)
    if (waiting?.node === from) waiting.settle(answer)
  }

  [Symbol.dispose](): void {
    this.#closed = true
    this.#stopChecking?.()
    for (const { settle } of [...this.#waiting.values()]) settle({ is: "silence" })
  }

  #sendStop(node: string, id: string): void {
    this.#ports.messages.send(node, { type: "device_stop", id }).catch(() => {}) // it also ends by itself, only later
  }

  /** Repeats while a request is open. */
  #checkLater(): void {
    if (this.#stopChecking || this.#closed) return
    const round = () => {
      this.#checkNodes()
        .catch((error: unknown) => this.#ports.log.warn("node_poll_failed", { error }))
        .then(() => {
          this.#stopChecking = undefined
          if (this.#waiting.size > 0) this.#checkLater()
        })
        .catch(() => {})
    }
    this.#stopChecking = this.#ports.clock.alarm(CHECK_MS, round, "background")
  }

  async #checkNodes(): Promise<void> {
    const nodes = new Set([...this.#waiting.values()].map(({ node }) => node))
    const living = await this.#ports.presence.living([...nodes])
    for (const waiting of [...this.#waiting.values()]) {
      if (!nodes.has(waiting.node)) continue // opened during the check
      waiting.missed = living.has(waiting.node) ? 0 : waiting.missed + 1
      if (waiting.missed >= CHECKS) waiting.settle({ is: "dead" })
    }
  }
}

interface IncomingPorts {
  readonly messages: NodeMessages
  readonly clock: Clock
  readonly log: Log
  /** The device socket with this number, if it is connected here. */
  socketOf(number: number): DeviceConnection | undefined
}

type ReceivedRequest = NodeMessageOf<"device_read" | "device_stop" | "device_ticket" | "device_write" | "device_report">

interface Seen {
  readonly at: number
  /** Aborts when the requesting node no longer needs the result. */
  readonly stopping: AbortController
  /** The request itself arrived, not only its stop. */
  hasStarted: boolean
}

/** Longer than any message can be delayed: a duplicate is recognised within this time. */
const REMEMBERED_MS = 5 * 60_000
const MOST = 20_000

/** Requests of other nodes to devices of this node. Each is executed once, however often it arrives. */
export class IncomingRequests implements AsyncDisposable {
  readonly #ports: IncomingPorts
  readonly #tickets: Tickets
  /** Ordered by arrival. */
  readonly #seen = new Map<string, Seen>()
  /** Answers that are being sent. */
  readonly #sending = new Set<Promise<unknown>>()

  constructor(ports: IncomingPorts) {
    this.#ports = ports
    this.#tickets = new Tickets(ports.clock)
  }

  receive(question: ReceivedRequest, from: string): void {
    const key = `${from} ${question.id}`
    const seen = this.#seen.get(key) ?? this.#register(key)
    if (question.type === "device_stop") return seen.stopping.abort()
    if (seen.hasStarted) return
    seen.hasStarted = true
    const { signal } = seen.stopping
    // Its stop may have arrived first: then nothing is sent to the device, and the requester gets that answer.
    const answering = signal.aborted ? Promise.resolve(toAnswer(undefined)) : this.#answerTo(question, from, signal)
    void answering
      .catch(refused)
      .then((answer) => answer && this.#send(from, { type: "device_answer", id: question.id, answer }))
  }

  /** Rejects every attempt at this call that is on its way from another node. */
  bar(callId: string, by: string): void {
    this.#tickets.bar(callId, by)
  }

  /** Resolves when all answers are sent. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sending)
  }

  /** Undefined if no answer is due. Runs synchronously up to the first `await`. */
  async #answerTo(
    question: Exclude<ReceivedRequest, { type: "device_stop" }>,
    from: string,
    signal: AbortSignal,
  ): Promise<DeviceAnswer | undefined> {
    const { socketOf } = this.#ports
    switch (question.type) {
      case "device_read": {
        const { line, call, ms, id } = question
        // Read ids of different nodes may be equal.
        return toAnswer(await socketOf(line)?.read({ ...call, id: `${call.id}.${id}` }, { ms, signal }))
      }
      case "device_ticket": {
        const { line, callId } = question
        if (!socketOf(line)?.open) return { is: "absent" }
        const ticket = this.#tickets.issue({ node: from, line, callId })
        return ticket === undefined ? { is: "absent" } : { is: "ticket", ticket }
      }
      case "device_write": {
        const { ticket, call, ms } = question
        const used = this.#tickets.use(ticket, { node: from, callId: call.id })
        if (used === undefined) return undefined
        if (used === "expired") return { is: "expired" }
        const socket = socketOf(used.line)
        return toAnswer(socket?.open ? await socket.write(call, { ms, signal }) : undefined)
      }
      case "device_report": {
        const { line, callId } = question
        this.bar(callId, from) // a call that arrives after the question would make the answer wrong
        return { is: "report", report: (await socketOf(line)?.report(callId)) ?? null }
      }
    }
  }

  #send(to: string, answer: NodeMessageOf<"device_answer">): void {
    const sent = this.#ports.messages
      .send(to, answer)
      .catch((error: unknown) => this.#ports.log.warn("answer_not_sent", { error }))
      .finally(() => this.#sending.delete(sent))
    this.#sending.add(sent)
  }

  #register(key: string): Seen {
    const now = monotonicOf(this.#ports.clock)
    for (const [old, { at }] of this.#seen) {
      if (now - at < REMEMBERED_MS && this.#seen.size < MOST) break
      this.#seen.delete(old)
    }
    const seen = { at: now, stopping: new AbortController(), hasStarted: false }
    this.#seen.set(key, seen)
    return seen
  }
}

/** Undefined: the device was not there, so nothing was sent. */
function toAnswer(end: CallEnd | undefined): DeviceAnswer {
  if (end === undefined) return { is: "absent" }
  if (typeof end === "string") return { is: "ended", how: end }
  return isUnreadable(end) ? { is: "unreadable", problem: end.unreadable } : { is: "outcome", outcome: end }
}

/** A call that throws was not sent. */
function refused(error: unknown): DeviceAnswer {
  return { is: "refused", code: codeOf(error) ?? null, message: (error as Error).message }
}

/** How long a ticket is valid, by the clock of the node that issued it. */
export const TICKET_TTL_MS = 5000
/**
 * Most remembered tickets. A used one is remembered longer than its call can be delayed, so that a duplicate finds it used.
 */
const MAX_TICKETS = 10_000

/** The call that a ticket is for. */
interface TicketScope {
  readonly node: string
  readonly line: number
  readonly callId: string
}

interface IssuedTicket extends TicketScope {
  readonly monotonic: number
  readonly day: number
  state: "open" | "used" | "barred"
}

/**
 * Tickets to send one write to a device of this node, once and soon. A delayed call finds its ticket expired: its sender may
 * have learned since that it was not done.
 */
export class Tickets {
  readonly #clock: Clock
  /** Ordered by creation. */
  readonly #issued = new Map<string, IssuedTicket>()

  /** Calls whose outcome was asked for, and by which node; ordered by time. */
  readonly #barred = new Map<string, { readonly by: string; readonly monotonic: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined if another node has barred this call. */
  issue(what: TicketScope): string | undefined {
    this.#removeOld()
    if ((this.#barred.get(what.callId)?.by ?? what.node) !== what.node) return undefined
    const ticket = randomUUID()
    const [monotonic, day] = [monotonicOf(this.#clock), machineTimeOf(this.#clock)]
    this.#issued.set(ticket, { ...what, monotonic, day, state: "open" })
    return ticket
  }

  /**
   * The socket to which the call must be sent immediately. `expired`: it must not be sent, now or later. Undefined if the
   * ticket was used before or belongs to another node: no answer is due.
   */
  use(ticket: string, { node, callId }: Omit<TicketScope, "line">): { line: number } | "expired" | undefined {
    const issued = this.#issued.get(ticket)
    if (!issued || issued.node !== node || issued.callId !== callId || issued.state === "used") return undefined
    const fresh = issued.state === "open" && this.#isFresh(issued)
    issued.state = fresh ? "used" : "barred"
    return fresh ? { line: issued.line } : "expired"
  }

  /**
   * Invalidates all tickets for this call. Only the node that barred it can get another: any other node was the
   * conversation's writer before and does not know that it lost the lease.
   */
  bar(callId: string, by: string): void {
    this.#barred.delete(callId)
    this.#barred.set(callId, { by, monotonic: monotonicOf(this.#clock) })
    for (const issued of this.#issued.values())
      if (issued.callId === callId && issued.state === "open") issued.state = "barred"
  }

  /**
   * The monotonic clock stops while the machine sleeps; its time of day then jumps. The shared time of the nodes is
   * unsuitable: between two answers of the database it follows the monotonic clock.
   */
  #isFresh({ monotonic, day }: IssuedTicket): boolean {
    const byDay = machineTimeOf(this.#clock) - day
    return monotonicOf(this.#clock) - monotonic < TICKET_TTL_MS && byDay > -TICKET_TTL_MS && byDay < 2 * TICKET_TTL_MS
  }

  #removeOld(): void {
    const now = monotonicOf(this.#clock)
    for (const tickets of [this.#issued, this.#barred])
      for (const [key, { monotonic }] of tickets) {
        if (now - monotonic < REMEMBERED_MS && tickets.size < MAX_TICKETS) break
        tickets.delete(key)
      }
  }
}
