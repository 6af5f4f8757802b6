import type { CallId, ConversationId } from "../../protocol/ids.ts"
import { monotonicOf } from "../../shared/time/clock.ts"
import { Semaphore } from "../../shared/concurrency/locks.ts"
import type { Call } from "../conversation.ts"
import type { Ports } from "../ports.ts"
import { whatBecameOf } from "./run-write.ts"

const FIRST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 5 * 60_000
/** Longer than any write takes. Before that, "not applied" may mean that it has not arrived yet. */
const SURE_AFTER_MS = 2 * 60_000
/** The least time between two searches for doubtful calls: there may be thousands. */
const LOOK_MS = 5000
const MAX_CONVERSATIONS = 200
/** Asked concurrently: with several nodes a device takes seconds to be sure that a call cannot arrive any more. */
const AT_ONCE = 16

const NOT_DONE =
  "Not applied: the target reports that it never received the call. Propose it again if you still want it."

const REFUSED = "Not done: its target answered late, and refused it."

/** A write in doubt, with times of this process's monotonic clock. */
interface Doubt {
  readonly since: number
  readonly nextAt: number
  readonly pauseMs: number
}

/**
 * Writes that are in doubt because their target was unreachable. The target is asked again, with growing pauses, until
 * it can tell or a person has decided. Nothing is repeated: the report becomes the call's result, like that of a write
 * that ended late.
 */
export class DoubtfulCalls {
  readonly #ports: Ports
  #doubts = new Map<CallId, Doubt>()
  #lookedAt = Number.NEGATIVE_INFINITY

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Asks about those whose pause is over. */
  async askTargets(signal: AbortSignal = new AbortController().signal): Promise<void> {
    const now = monotonicOf(this.#ports.clock)
    if (now - this.#lookedAt < LOOK_MS) return
    this.#lookedAt = now
    const turns = new Semaphore(AT_ONCE)
    const ids = await this.#ports.journal.doubtful(MAX_CONVERSATIONS)
    const found = (await Promise.all(ids.map((id) => turns.run(() => this.#doubtfulIn(id))))).flat()
    const visits = found.map(({ id, call }) =>
      turns.run(async () => [call.id, await this.#visit(id, call, signal)] as const),
    )
    this.#doubts = new Map(await Promise.all(visits))
  }

  async #doubtfulIn(id: ConversationId): Promise<{ readonly id: ConversationId; readonly call: Call }[]> {
    const conversation = await this.#ports.journal.load(id, true).catch(() => undefined)
    return (conversation?.calls ?? []).filter(({ state }) => state === "in_doubt").map((call) => ({ id, call }))
  }

  async #visit(id: ConversationId, call: Call, signal: AbortSignal): Promise<Doubt> {
    const { clock, log } = this.#ports
    const now = monotonicOf(clock)
    const last = this.#doubts.get(call.id)
    if (!last) return { since: now, nextAt: now + FIRST_PAUSE_MS, pauseMs: FIRST_PAUSE_MS }
    if (now < last.nextAt) return last
    // An error counts as unreachable, and the others are still asked.
    const isSure = now - last.since >= SURE_AFTER_MS
    await askTarget(this.#ports, { id, call, isSure, signal, notDone: NOT_DONE }).catch((error: unknown) =>
      log.warn("target_query_failed", { conversation: id, call: call.id, error }),
    )
    const pauseMs = Math.min(last.pauseMs * 2, LONGEST_PAUSE_MS)
    return { since: last.since, nextAt: now + pauseMs, pauseMs }
  }
}

/** Asks at once about one write, because its target has just responded. Does nothing if it is not in doubt. */
export async function settleDoubt(ports: Ports, id: ConversationId, callId: CallId): Promise<void> {
  const { calls } = await ports.journal.load(id)
  const call = calls.find((each) => each.id === callId && each.state === "in_doubt")
  const { signal } = new AbortController()
  if (call) await askTarget(ports, { id, call, isSure: true, signal, notDone: REFUSED })
}

interface Asking {
  readonly id: ConversationId
  readonly call: Call
  /** It cannot be on its way any more. */
  readonly isSure: boolean
  readonly signal: AbortSignal
  readonly notDone: string
}

async function askTarget(ports: Ports, { id, call, isSure, signal, notDone }: Asking): Promise<void> {
  const { journal, agents, bus } = ports
  const conversation = await journal.load(id)
  const work = { conversation, agent: agents.of(conversation), ports, signal }
  const became = await whatBecameOf(work, call, notDone)
  if (!became || !(became.isFinal || isSure)) return
  const { status, text, change, inverse, brings } = became.end
  const effect = { ...(change ? { change } : {}), ...(inverse ? { inverse } : {}), ...(brings ? { brings } : {}) }
  await journal.addToInbox(id, {
    type: "late_result",
    callId: call.id,
    status: status === "ok" ? "ok" : "error",
    text,
    ...effect,
    whileInDoubt: true,
    attempt: call.attempts,
  })
  bus.wake(id)
}
