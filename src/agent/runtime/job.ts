import type { ConversationId, RunId } from "../../protocol/ids.ts"
import type { Clock } from "../clock.ts"
import { PausableAlarm } from "../concurrency/pausable-alarm.ts"
import type { Judged } from "../journal.ts"
import type { Limits } from "../next-step.ts"
import type { RunSignals, Stop } from "../record.ts"

/** One conversation at work in this process: what can be told to stop, and when it must stop by itself. */
export class Job implements RunSignals {
  readonly id: ConversationId
  /** Somebody asked for work while it was ending: look once more. */
  again = false
  /** What is held against its run for the death of the process that had it. */
  judged: Judged | undefined
  /** Other nodes have it in their line too: at its turn this one puts its mark on it, or leaves it to another. */
  marksItself = false
  /** Still finding out whether there is something to do. */
  claiming = false
  /** Another node had left it, dead or in good order. */
  tookOver = false
  /** It holds events that only a newer version understands: there is nothing to do for this one, ever. */
  isTooNew = false
  /** It ended as the writer, with nothing left to do. */
  rested = false
  done: Promise<void> = Promise.resolve()
  readonly #clock: Clock
  readonly #limits: Limits
  #run: RunId | undefined
  // These two are made when somebody asks for them: few jobs are anybody's suspect, or taken over.
  #unsuspected: AbortController | undefined
  #claimTried: PromiseWithResolvers<void> | undefined
  #goesOn = false
  #hasTried = false
  #controller = new AbortController()
  /** Of the run it works on. */
  #limit: PausableAlarm | undefined

  constructor(id: ConversationId, clock: Clock, limits: Limits) {
    this.id = id
    this.#clock = clock
    this.#limits = limits
  }

  readonly pause = (): (() => void) => this.#limit?.pause() ?? (() => {})

  signalFor(run: RunId | undefined, workedMs: number): AbortSignal {
    if (run !== this.#run) {
      this.#run = run
      // Going down concerns every run, a cancel only the one it was meant for.
      const { aborted, reason } = this.#controller.signal
      if (aborted && reason !== "shutdown") this.#controller = new AbortController()
      // A new one: what a call of the run before still waits for, unheard, does not stop the time of this one.
      this.#limit?.cancel()
      this.#limit = this.#limitOf(this.#limits.runSeconds * 1000 - workedMs)
    }
    return this.#controller.signal
  }

  /** None where its time was up before: it begins nothing of its own then, and what a person has agreed to since has its call's time. */
  #limitOf(leftMs: number): PausableAlarm | undefined {
    if (leftMs <= 0) return undefined
    const limit = new PausableAlarm(this.#clock, () => this.stop("run_timeout"))
    limit.set(leftMs)
    return limit
  }

  /** It need not wait for a turn any more: what it has to do ends no process. */
  get unsuspected(): AbortSignal {
    this.#unsuspected ??= new AbortController()
    if (this.#goesOn) this.#unsuspected.abort()
    return this.#unsuspected.signal
  }

  goOn(): void {
    this.#goesOn = true
    this.#unsuspected?.abort()
  }

  /** Resolves when it has become the writer, or has found for the first time that it cannot. */
  get claimTried(): Promise<void> {
    this.#claimTried ??= Promise.withResolvers()
    if (this.#hasTried) this.#claimTried.resolve()
    return this.#claimTried.promise
  }

  endClaimTry(): void {
    this.#hasTried = true
    this.#claimTried?.resolve()
  }

  stop(why: Stop): void {
    this.goOn()
    this.#controller.abort(why)
  }

  end(): void {
    this.#limit?.cancel()
    this.endClaimTry()
  }
}
