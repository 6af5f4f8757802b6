import { type Clock, monotonicOf } from "../../../agent/clock.ts"
import type { NodeMessages } from "../../../agent/runtime/node-messages.ts"
import type { Log } from "../../../agent/ports.ts"
import { codeOf } from "../../../protocol/errors.ts"
import type { DeviceAnswer, NodeMessageOf } from "../../../protocol/ports/node-message.ts"
import type { DeviceConnection } from "../device-connection.ts"
import type { CallEnd } from "../device-line.ts"
import { Tickets } from "./tickets.ts"

interface AskedPorts {
  readonly messages: NodeMessages
  readonly clock: Clock
  readonly log: Log
  /** The socket of that number, where it is here and a device. */
  lineOf(number: number): DeviceConnection | undefined
}

type Question = NodeMessageOf<"device_read" | "device_stop" | "device_ticket" | "device_write" | "device_report">

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

  hear(question: Question, from: string): void {
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
    question: Exclude<Question, { type: "device_stop" }>,
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
  return typeof end === "string" ? { is: "ended", how: end } : { is: "outcome", outcome: end }
}

/** A call that throws was not sent. */
function refused(error: unknown): DeviceAnswer {
  return { is: "refused", code: codeOf(error) ?? null, message: (error as Error).message }
}
