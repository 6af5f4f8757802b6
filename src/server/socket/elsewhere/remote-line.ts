import type { Clock } from "../../../agent/clock.ts"
import { DEVICE_STATUS_SECONDS, DEVICE_WAY_SECONDS } from "../../../agent/devices.ts"
import type { NodeMessages } from "../../../agent/runtime/node-messages.ts"
import { AppError, codeOf, failure } from "../../../protocol/errors.ts"
import type { UserId } from "../../../protocol/ids.ts"
import type { Introduced, PresentDevice } from "../../../protocol/ports/device-presence.ts"
import type { CallReport, ToolCall } from "../../../protocol/socket.ts"
import { nameOf } from "../ask-device.ts"
import { type Asking, type CallEnd, type DeviceLine, outcomeOf } from "../device-line.ts"
import type { Heard, NodeAsks, OpenAsk } from "./node-asks.ts"

/** The way to the other node and back. */
const WAY_MS = DEVICE_WAY_SECONDS * 1000
const STATUS_MS = DEVICE_STATUS_SECONDS * 1000

export interface RemotePorts {
  readonly asks: NodeAsks
  readonly messages: NodeMessages
  readonly clock: Clock
}

/** A device whose socket is at another node: asked by a word to that node, with the limits that hold here. */
export class RemoteLine implements DeviceLine {
  readonly number: number
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  /** It was, when it was found. */
  readonly open = true
  readonly #node: string
  readonly #ports: RemotePorts

  constructor({ number, node, user, lineage, introduced }: PresentDevice, ports: RemotePorts) {
    this.number = number
    this.user = user
    this.lineage = lineage
    this.introduced = introduced
    this.#node = node
    this.#ports = ports
  }

  offers(what: string): boolean {
    return this.introduced?.offers.includes(what) ?? what === "workspace"
  }

  async read(call: ToolCall, { ms, signal }: Asking): Promise<CallEnd> {
    const asked = { type: "device_read", line: this.number, call, ms } as const
    return this.#toEnd(await this.#ports.asks.ask(this.#node, asked, { ms: ms + WAY_MS, signal }))
  }

  async write(call: ToolCall, { ms, signal, unwanted = signal }: Asking): Promise<CallEnd> {
    const ticket = await this.#ticketFor(call.id, signal)
    const asked = this.#ports.asks.open(this.#node, { type: "device_write", ticket, call, ms })
    // A server that goes down still wants it: the next one asks what became of it.
    const stop = () => unwanted.reason === "shutdown" || asked.unwanted()
    unwanted.addEventListener("abort", stop, { once: true })
    if (unwanted.aborted) stop()
    // By then its node is asking the device itself. Ours is the question if that answer, or the first one, is lost.
    const late = this.#ports.clock.alarm(ms + WAY_MS, () => void this.#find(asked, call.id, { ms }))
    const heard = await asked.heard.finally(() => {
      late()
      unwanted.removeEventListener("abort", stop)
    })
    return this.#toEnd(heard)
  }

  async report(id: string): Promise<CallReport | undefined> {
    const asked = { type: "device_report", line: this.number, callId: id } as const
    const heard = await this.#ports.asks.ask(this.#node, asked, { ms: STATUS_MS + WAY_MS })
    return heard.is === "report" ? (heard.report ?? undefined) : undefined
  }

  /** It may be lost: whoever asked is told that they have to wait, and the person sees the request in their list. */
  tellOfClaim(status: "asked" | "allowed"): void {
    if (status !== "asked") return // who has lost a name learns it from its own node
    this.#ports.messages.send(this.#node, { type: "device_asked", line: this.number }).catch(() => {})
  }

  /** Until there is one nothing is sent, so whoever has stopped, or is no longer the writer, leaves nothing behind. */
  async #ticketFor(callId: string, signal: AbortSignal): Promise<string> {
    signal.throwIfAborted()
    const asked = { type: "device_ticket", line: this.number, callId } as const
    const heard = await this.#ports.asks.ask(this.#node, asked, { ms: WAY_MS, signal })
    signal.throwIfAborted()
    if (heard.is === "ticket") return heard.ticket
    throw this.#offline()
  }

  /** The same as for a device that is connected here, by way of its node. The call stays open: its answer may be on its way. */
  async #find(asked: OpenAsk, id: string, { ms, again = true }: { ms: number; again?: boolean }): Promise<void> {
    const report = await this.report(id)
    if (report?.status === "running" && again) {
      const late = this.#ports.clock.alarm(ms, () => void this.#find(asked, id, { ms, again: false }), "background")
      void asked.heard.then(late)
      return
    }
    if (report?.status === "applied") return asked.end({ is: "outcome", outcome: outcomeOf(report) })
    // Its ticket has expired long since: what its ledger does not know it will never hear of.
    const how = report?.status === "unknown" && this.introduced?.ledger ? "unknown" : "silent"
    asked.end({ is: "ended", how })
  }

  #toEnd(heard: Heard): CallEnd {
    switch (heard.is) {
      case "outcome":
        return heard.outcome
      case "ended":
        return heard.how
      case "dead":
        return "closed"
      case "silence":
      case "ticket": // no answers to a call
      case "report":
        return "silent"
      case "refused":
        throw refusal(heard)
      case "absent":
      case "unsent":
      case "expired": // and not tried again: who is so late may have been given up by others
        throw this.#offline()
    }
  }

  #offline(): AppError {
    return failure("device_offline", { device: nameOf(this.introduced?.deviceId ?? null) })
  }
}

function refusal({ code, message }: { readonly code: string | null; readonly message: string }): Error {
  const known = codeOf({ code })
  return known ? new AppError(known, message) : new Error(message)
}
