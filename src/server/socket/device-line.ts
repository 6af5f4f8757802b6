import type { UserId } from "../../protocol/ids.ts"
import type { Introduced } from "../../protocol/ports/device-presence.ts"
import type { CallOutcome, CallReport, ToolCall } from "../../protocol/socket.ts"

/** How a call ended: with the device's word, or without one. */
export type CallEnd = CallOutcome | "closed" | "silent" | "stopped" | "unknown"

export interface Asking {
  readonly ms: number
  readonly signal: AbortSignal
  /** Of a write: when nobody wants it any more; the signal, where that is not said. */
  readonly unwanted?: AbortSignal
}

/** A socket that is a device, as whoever asks it sees it: one of this process, or of another. */
export interface DeviceLine {
  readonly user: UserId
  readonly lineage: string
  readonly introduced: Introduced | undefined
  readonly open: boolean
  /** Of one that is connected to another process: what the record calls it. */
  readonly number?: number
  offers(what: string): boolean
  /** Asks for something that may be asked again. */
  read(call: ToolCall, asking: Asking): Promise<CallEnd>
  /**
   * Asks for something that may not be lost sight of. What throws was not sent. The signal counts until it is: what was
   * sent is not taken back. A device that knows `cancel` is told that nobody wants it, and what it did is waited for.
   */
  write(call: ToolCall, asking: Asking): Promise<CallEnd>
  /** What the device says about a call; undefined where it says nothing. */
  report(id: string): Promise<CallReport | undefined>
  tellOfClaim(status: "asked" | "allowed"): void
}

export function isSameLine(one: DeviceLine | undefined, other: DeviceLine): boolean {
  return one === other || (one?.number !== undefined && one.number === other.number)
}

/** What of a report is the outcome of the call that it is about. */
export function outcomeOf({ type: _, id: __, status: ___, ...outcome }: CallReport): CallOutcome {
  return outcome
}
