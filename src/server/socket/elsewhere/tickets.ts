import { randomUUID } from "node:crypto"
import { type Clock, machineTimeOf, monotonicOf } from "../../../agent/clock.ts"

/** For so long a ticket lets a call through, by the clock of the node that has given it. */
export const TICKET_LIFE_MS = 5000
/** A used ticket is remembered for longer than its call can take: a copy of the call that comes late finds it used. */
const KEPT_MS = 5 * 60_000
const MOST = 10_000

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
        if (now - monotonic < KEPT_MS && kept.size < MOST) break
        kept.delete(key)
      }
  }
}
