import { randomUUID } from "node:crypto"
import { type Clock, monotonicOf, machineTimeOf } from "../../../shared/time/clock.ts"
import type { DeviceAnswer, NodeMessageOf, NodeMessages } from "../../../protocol/node-messages.ts"
import type { Log } from "../../../shared/log.ts"
import type { DevicePresence } from "../../../engine/devices.ts"
import { codeOf } from "../../../protocol/errors.ts"
import type { DeviceConnection } from "../device-connection.ts"
import { type CallEnd, isUnreadable } from "../ask-device.ts"

type Question = NodeMessageOf<"device_read" | "device_ticket" | "device_write" | "device_report">
export type Asked = { [Type in Question["type"]]: Omit<NodeMessageOf<Type>, "id"> }[Question["type"]]

/** What another node answers; or why it does not: it was struck off, it cannot have got the question, or it says nothing. */
export type Heard = DeviceAnswer | { readonly is: "dead" | "unsent" | "silence" }

/** A question that is under way. */
export interface OpenAsk {
  readonly heard: Promise<Heard>
  /** Ends the waiting, with this. */
  end(heard: Heard): void
  /** Tells the other node that nobody wants it any more. What it did is still waited for. */
  unwanted(): void
}

interface Waiting {
  readonly node: string
  /** How often its node was not among the living. */
  missed: number
  settle(heard: Heard): void
}

interface AskPorts {
  readonly messages: NodeMessages
  readonly presence: Pick<DevicePresence, "living">
  readonly clock: Clock
  readonly log: Log
}

/** How often it is looked whether those are alive whose answer is waited for. */
const LOOK_MS = 1000
/** An answer may have been on its way when its sender was struck off: it has until the second look to arrive. */
const LOOKS = 2

/** Questions to other nodes. Each has one answer; what comes twice, or when nobody waits any more, belongs to nobody. */
export class NodeAsks implements Disposable {
  readonly #ports: AskPorts
  readonly #waiting = new Map<string, Waiting>()
  #stopLooking: (() => void) | undefined
  #closed = false

  constructor(ports: AskPorts) {
    this.#ports = ports
  }

  get size(): number {
    return this.#waiting.size
  }

  open(node: string, asked: Asked): OpenAsk {
    const id = randomUUID()
    const { promise, resolve } = Promise.withResolvers<Heard>()
    const settle = (heard: Heard) => {
      this.#waiting.delete(id)
      resolve(heard)
    }
    if (this.#closed) return { heard: Promise.resolve({ is: "unsent" }), end: settle, unwanted() {} }
    this.#waiting.set(id, { node, missed: 0, settle })
    const { messages, log } = this.#ports
    messages.send(node, { ...asked, id }).then(
      (handed) => handed || settle({ is: "unsent" }),
      (error: unknown) => log.warn("ask_not_sent", { error }), // perhaps it was: then an answer comes
    )
    this.#look()
    const unwanted = () => {
      if (this.#waiting.has(id)) this.#tellToStop(node, id)
    }
    const stops = asked.type === "device_read"
    const end = (heard: Heard) => {
      if (stops) unwanted()
      settle(heard)
    }
    return { heard: promise, end, unwanted }
  }

  /** Waits for the answer for so long, or until the signal says that nobody wants it. */
  async ask(node: string, asked: Asked, { ms, signal }: { ms: number; signal?: AbortSignal }): Promise<Heard> {
    const { heard, end } = this.open(node, asked)
    const stop = () => end({ is: "ended", how: "stopped" })
    const giveUp = this.#ports.clock.alarm(ms, () => end({ is: "silence" }))
    signal?.addEventListener("abort", stop, { once: true })
    if (signal?.aborted) stop()
    try {
      return await heard
    } finally {
      giveUp()
      signal?.removeEventListener("abort", stop)
    }
  }

  hear({ id, answer }: NodeMessageOf<"device_answer">, from: string): void {
    const waiting = this.#waiting.get(id)
    if (waiting?.node === from) waiting.settle(answer)
  }

  [Symbol.dispose](): void {
    this.#closed = true
    this.#stopLooking?.()
    for (const { settle } of [...this.#waiting.values()]) settle({ is: "silence" })
  }

  #tellToStop(node: string, id: string): void {
    this.#ports.messages.send(node, { type: "device_stop", id }).catch(() => {}) // it ends by itself, only later
  }

  /** As long as anybody waits. */
  #look(): void {
    if (this.#stopLooking || this.#closed) return
    const round = () => {
      this.#lookOnce()
        .catch((error: unknown) => this.#ports.log.warn("node_poll_failed", { error }))
        .then(() => {
          this.#stopLooking = undefined
          if (this.#waiting.size > 0) this.#look()
        })
        .catch(() => {})
    }
    this.#stopLooking = this.#ports.clock.alarm(LOOK_MS, round, "background")
  }

  async #lookOnce(): Promise<void> {
    const nodes = new Set([...this.#waiting.values()].map(({ node }) => node))
    const living = await this.#ports.presence.living([...nodes])
    for (const waiting of [...this.#waiting.values()]) {
      if (!nodes.has(waiting.node)) continue // asked since
      waiting.missed = living.has(waiting.node) ? 0 : waiting.missed + 1
      if (waiting.missed >= LOOKS) waiting.settle({ is: "dead" })
    }
  }
}

interface AskedPorts {
  readonly messages: NodeMessages
  readonly clock: Clock
  readonly log: Log
  /** The socket of that number, where it is here and a device. */
  lineOf(number: number): DeviceConnection | undefined
}

type ReceivedQuestion = NodeMessageOf<
  "device_read" | "device_stop" | "device_ticket" | "device_write" | "device_report"
>

interface Seen {
  readonly at: number
  /** By it whoever asked says that they want it no longer. */
  readonly stopping: AbortController
  /** The question itself has come, and not only its stop. */
  isTakenUp: boolean
}

/** Longer than any message is under way: one that comes a second time is known by then. */
const KEPT_MS = 5 * 60_000
const MOST = 20_000

/** What other nodes ask of the devices that are connected here. Each question is taken up once, however often it arrives. */
export class AskedHere implements AsyncDisposable {
  readonly #ports: AskedPorts
  readonly #tickets: Tickets
  /** What was asked, in the order in which it came. */
  readonly #seen = new Map<string, Seen>()
  /** Answers that are being handed over. */
  readonly #sending = new Set<Promise<unknown>>()

  constructor(ports: AskedPorts) {
    this.#ports = ports
    this.#tickets = new Tickets(ports.clock)
  }

  hear(question: ReceivedQuestion, from: string): void {
    const key = `${from} ${question.id}`
    const seen = this.#seen.get(key) ?? this.#note(key)
    if (question.type === "device_stop") return seen.stopping.abort()
    if (seen.isTakenUp) return
    seen.isTakenUp = true
    const { signal } = seen.stopping
    // Its stop may have been faster: then nothing is sent, and whoever waits is told so.
    const answering = signal.aborted ? Promise.resolve(toAnswer(undefined)) : this.#answerTo(question, from, signal)
    void answering
      .catch(refused)
      .then((answer) => answer && this.#send(from, { type: "device_answer", id: question.id, answer }))
  }

  /** No call by this name that is on its way from another node reaches a device of this one any more. */
  bar(callId: string, by: string): void {
    this.#tickets.bar(callId, by)
  }

  /** Resolves when all that has been answered is handed over. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#sending)
  }

  /** Undefined where nothing is to be said. Up to the first `await` nothing else happens in between. */
  async #answerTo(
    question: Exclude<ReceivedQuestion, { type: "device_stop" }>,
    from: string,
    signal: AbortSignal,
  ): Promise<DeviceAnswer | undefined> {
    const { lineOf } = this.#ports
    switch (question.type) {
      case "device_read": {
        const { line, call, ms, id } = question
        // Several nodes may count their reads alike.
        return toAnswer(await lineOf(line)?.read({ ...call, id: `${call.id}.${id}` }, { ms, signal }))
      }
      case "device_ticket": {
        const { line, callId } = question
        if (!lineOf(line)?.open) return { is: "absent" }
        const ticket = this.#tickets.give({ node: from, line, callId })
        return ticket === undefined ? { is: "absent" } : { is: "ticket", ticket }
      }
      case "device_write": {
        const { ticket, call, ms } = question
        const used = this.#tickets.use(ticket, { node: from, callId: call.id })
        if (used === undefined) return undefined
        if (used === "expired") return { is: "expired" }
        const line = lineOf(used.line)
        return toAnswer(line?.open ? await line.write(call, { ms, signal }) : undefined)
      }
      case "device_report": {
        const { line, callId } = question
        this.bar(callId, from) // what came after the question would make the answer untrue
        return { is: "report", report: (await lineOf(line)?.report(callId)) ?? null }
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

  #note(key: string): Seen {
    const now = monotonicOf(this.#ports.clock)
    for (const [old, { at }] of this.#seen) {
      if (now - at < KEPT_MS && this.#seen.size < MOST) break
      this.#seen.delete(old)
    }
    const seen = { at: now, stopping: new AbortController(), isTakenUp: false }
    this.#seen.set(key, seen)
    return seen
  }
}

/** Undefined: there was nobody to ask, so nothing was sent. */
function toAnswer(end: CallEnd | undefined): DeviceAnswer {
  if (end === undefined) return { is: "absent" }
  if (typeof end === "string") return { is: "ended", how: end }
  return isUnreadable(end) ? { is: "unreadable", problem: end.unreadable } : { is: "outcome", outcome: end }
}

/** A call that throws was not sent. */
function refused(error: unknown): DeviceAnswer {
  return { is: "refused", code: codeOf(error) ?? null, message: (error as Error).message }
}

/** For so long a ticket lets a call through, by the clock of the node that has given it. */
export const TICKET_LIFE_MS = 5000
/** A used ticket is remembered for longer than its call can take: a copy of the call that comes late finds it used. */
const MAX_TICKETS = 10_000

/** What a ticket is for. */
export interface Ticketed {
  readonly node: string
  readonly line: number
  readonly callId: string
}

interface Given extends Ticketed {
  readonly monotonic: number
  readonly day: number
  state: "open" | "used" | "barred"
}

/**
 * Leave to send one write to a device of this node, once and soon. A call that was held up on its way meets a ticket that
 * has expired: whoever sent it may have been told since that it was not done.
 */
export class Tickets {
  readonly #clock: Clock
  /** In the order in which they were given. */
  readonly #given = new Map<string, Given>()

  /** Calls that were asked about, and by whom; in the order in which they were. */
  readonly #barred = new Map<string, { readonly by: string; readonly monotonic: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Undefined where another has barred this call. */
  give(what: Ticketed): string | undefined {
    this.#forgetOld()
    if ((this.#barred.get(what.callId)?.by ?? what.node) !== what.node) return undefined
    const ticket = randomUUID()
    const [monotonic, day] = [monotonicOf(this.#clock), machineTimeOf(this.#clock)]
    this.#given.set(ticket, { ...what, monotonic, day, state: "open" })
    return ticket
  }

  /**
   * The socket that the call may go to now; it must go at once. `expired`: it may not, and never will. Undefined where it
   * has been let through before, or is another's: there is nothing to say about it.
   */
  use(ticket: string, { node, callId }: Omit<Ticketed, "line">): { line: number } | "expired" | undefined {
    const given = this.#given.get(ticket)
    if (!given || given.node !== node || given.callId !== callId || given.state === "used") return undefined
    const fresh = given.state === "open" && this.#isFresh(given)
    given.state = fresh ? "used" : "barred"
    return fresh ? { line: given.line } : "expired"
  }

  /**
   * No ticket for this call lets anything through any more, and only who bars it gets another: whoever else wants one was
   * its writer before, and does not know that it is no longer.
   */
  bar(callId: string, by: string): void {
    this.#barred.delete(callId)
    this.#barred.set(callId, { by, monotonic: monotonicOf(this.#clock) })
    for (const given of this.#given.values())
      if (given.callId === callId && given.state === "open") given.state = "barred"
  }

  /**
   * The monotonic clock stands still while the machine sleeps; its time of day jumps then, and what it jumps over may be
   * anything. The time that nodes share would not do: it goes by the monotonic clock between two answers of the database.
   */
  #isFresh({ monotonic, day }: Given): boolean {
    const byDay = machineTimeOf(this.#clock) - day
    return (
      monotonicOf(this.#clock) - monotonic < TICKET_LIFE_MS && byDay > -TICKET_LIFE_MS && byDay < 2 * TICKET_LIFE_MS
    )
  }

  #forgetOld(): void {
    const now = monotonicOf(this.#clock)
    for (const kept of [this.#given, this.#barred])
      for (const [key, { monotonic }] of kept) {
        if (now - monotonic < KEPT_MS && kept.size < MAX_TICKETS) break
        kept.delete(key)
      }
  }
}
