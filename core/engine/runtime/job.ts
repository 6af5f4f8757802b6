import type { ConversationId, RunId } from "../../protocol/ids.ts"
import { Semaphore } from "../../shared/concurrency/locks.ts"
import { PausableAlarm } from "../../shared/concurrency/time-limit.ts"
import { type Clock, sleep } from "../../shared/time/clock.ts"
import { type Conversation, pauseReason } from "../conversation.ts"
import { isCancelled } from "../inbox.ts"
import type { NodeFailure, Judged, Judgement } from "../journal.ts"
import { type Limits, nextStep } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import type { RunSignals, Stop } from "../record.ts"

/** One conversation at work in this process: how it is stopped, and when it stops by itself. */
export class Job implements RunSignals {
  readonly id: ConversationId
  /** Work was requested while it was ending, so check once more. */
  again = false
  /** How far its run may have caused the death of its process. */
  judged: Judged | undefined
  /** Other nodes have it in their queues as well. At its turn this node marks it, or leaves it to another. */
  marksItself = false
  /** Still determining whether there is work. */
  claiming = false
  /** Another node had released it, or failed. */
  tookOver = false
  /** Only another process can continue it: it has events of a newer version, or works in a terminal's folder. */
  isLeft = false
  /** It ended as the writer, without work left. */
  rested = false
  done: Promise<void> = Promise.resolve()
  readonly #clock: Clock
  readonly #limits: Limits
  #run: RunId | undefined
  // Created on demand: few jobs are suspected or taken over.
  #unsuspected: AbortController | undefined
  #claimTried: PromiseWithResolvers<void> | undefined
  #goesOn = false
  #hasTried = false
  #controller = new AbortController()
  /** The time limit of the current run. */
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
      // A shutdown concerns every run, a cancel only its own.
      const { aborted, reason } = this.#controller.signal
      if (aborted && reason !== "shutdown") this.#controller = new AbortController()
      // A new one, so that a call of the previous run that is still waiting does not pause this run's limit.
      this.#limit?.cancel()
      this.#limit = this.#limitOf(this.#limits.runSeconds * 1000 - workedMs)
    }
    return this.#controller.signal
  }

  /** None if its time was up before: it starts nothing itself then, and approved calls have their own limits. */
  #limitOf(leftMs: number): PausableAlarm | undefined {
    if (leftMs <= 0) return undefined
    const limit = new PausableAlarm(this.#clock, () => this.stop("run_timeout"))
    limit.set(leftMs)
    return limit
  }

  /** It need not wait for its turn any more, because the rest of its work cannot end the process. */
  get unsuspected(): AbortSignal {
    this.#unsuspected ??= new AbortController()
    if (this.#goesOn) this.#unsuspected.abort()
    return this.#unsuspected.signal
  }

  goOn(): void {
    this.#goesOn = true
    this.#unsuspected?.abort()
  }

  /** Resolves when it has become the writer, or has first failed to. */
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

type Doing = "tool" | "waiting"

interface Suspect {
  readonly id: ConversationId
  readonly doing: Doing
  readonly deaths: number
  readonly blames: number
}

/**
 * Judges runs of failed processes whose step had failed before. Runs in a tool call are suspected, and from their
 * second death on continued one at a time. Waiting for a provider is not suspicious: such a run is blamed only for a
 * death at which nothing else was at work, and isolated only if repeated deaths have no other cause.
 *
 * Each death is judged once, before any of its runs is continued. A node that finds only some of them, because another
 * was faster, uses the recorded judgement. The result is in the order in which they are to be continued.
 */
async function judgeDeaths(ports: Ports): Promise<Map<ConversationId, Judged>> {
  const judged: (readonly [ConversationId, Judged])[] = []
  for (const death of await ports.journal.suspected()) {
    const left = new Set(death.ids)
    const known = death.judged ?? (await judgeOnce(ports, death))
    judged.push(...known.filter(([id]) => left.has(id)))
  }
  return new Map(judged)
}

/**
 * How long this node waits for another node's judgement, and how often it polls, to avoid replaying the same journals
 * twice.
 */
const [ASKED_EVERY_MS, ASKED_AT_MOST] = [100, 20]

/** If several nodes find the same death, the one that marks the first conversation judges, and the others wait. */
async function judgeOnce(ports: Ports, death: NodeFailure): Promise<Judgement> {
  const { journal, clock } = ports
  const judge = async () => journal.judge(death.node, await examineAll(ports, death))
  if (!journal.sharesWork) return judge()
  const first = death.ids.toSorted().slice(0, 1)
  for (let asked = 0; asked < ASKED_AT_MOST; asked++) {
    const marked = await journal.earmark(first, 1)
    try {
      const now = (await journal.suspected()).find(({ node }) => node === death.node)
      if (!now || now.judged) return now?.judged ?? []
      if (marked.length > 0) return await judge()
    } finally {
      if (marked.length > 0) await journal.unmark(marked)
    }
    await sleep(clock, ASKED_EVERY_MS)
  }
  return judge()
}

async function examineAll(ports: Ports, { ids }: NodeFailure): Promise<Judgement> {
  const group = (await Promise.all(ids.map((id) => examine(ports, id)))).filter((one) => one !== undefined)
  const inTools = group.filter(({ doing }) => doing === "tool").length
  const order = ({ doing, blames }: Suspect) => (doing === "tool" ? 0 : 1000) + blames
  const ordered = group.toSorted((a, b) => order(a) - order(b))
  return ordered.map((one) => [one.id, toJudged(one, ports.limits.restarts, [inTools, group.length])])
}

function toJudged({ doing, deaths }: Suspect, restarts: number, [inTools, all]: [number, number]): Judged {
  if (doing === "tool") return { ...(inTools > 1 ? { blame: "shared" } : {}), alone: deaths > 0 }
  return { ...(all > 1 ? { blame: "none" } : {}), alone: deaths + 1 >= 2 * restarts }
}

/** Undefined if no step was interrupted, or if it cannot be read, which continuing it will show. */
async function examine({ journal, agents, limits }: Ports, id: ConversationId): Promise<Suspect | undefined> {
  const conversation = await journal.load(id, true).catch(() => undefined)
  const run = conversation?.run
  if (!conversation || run?.status !== "running" || pauseReason(conversation)) return undefined
  const step = nextStep(conversation, agents.of(conversation), limits)
  return { id, doing: TOOL_STEPS.has(step.type) ? "tool" : "waiting", deaths: run.deaths, blames: run.blames }
}

const TOOL_STEPS: ReadonlySet<string> = new Set(["recover-calls", "run-tools", "propose"])

/** Runs suspected runs one at a time, so that the next death identifies the cause. */
export class Isolation {
  readonly #ports: Ports
  readonly #lane = new Semaphore(1)
  /** The judgement in progress, shared by all concurrent callers. */
  #judging: Promise<Map<ConversationId, Judged>> | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  judge(): Promise<Map<ConversationId, Judged>> {
    return (this.#judging ??= judgeDeaths(this.#ports).finally(() => (this.#judging = undefined)))
  }

  /**
   * Resolves when a job may continue: at its turn if it is suspected, else at once. The returned function lets the next
   * one continue. A job that was woken by input is judged first, because its conversation may belong to a failed
   * writer.
   */
  async turnOf(job: Job): Promise<(() => void) | undefined> {
    try {
      job.judged ??= (await this.judge()).get(job.id)
      if (!job.judged?.alone) return undefined
      const [recorded] = await this.#ports.journal.recorded([job.id])
      if (recorded?.unread) await this.letStop(job)
      return await this.#turn(job)
    } catch (error) {
      this.#ports.log.warn("poll_failed", { conversation: job.id, error })
      return undefined
    }
  }

  /** A run that is to be cancelled cannot end the process, so it does not wait for a turn. */
  async letStop(job: Job): Promise<void> {
    if (isCancelled(await this.#ports.journal.load(job.id, true))) job.goOn()
  }

  async #turn({ id, unsuspected }: Job): Promise<() => void> {
    const { bus, journal } = this.#ports
    const turn = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    void this.#lane.run(() => {
      turn.resolve()
      return over.promise
    })
    const leave = () => {
      over.resolve() // its slot passes to the next one at its turn
      turn.resolve()
    }
    if (unsuspected.aborted) leave()
    else unsuspected.addEventListener("abort", leave, { once: true })
    await turn.promise
    unsuspected.removeEventListener("abort", leave)
    const look = () => void (journal.isWriterOf(id) && journal.load(id).then((one) => isOverIt(one) && done(), done))
    const stop = bus.subscribe(id, ({ type }) => type === "events" && look())
    const done = () => {
      stop()
      over.resolve()
    }
    return done
  }
}

/** The step that had failed is complete, so the next suspected run may start. */
const isOverIt = ({ run }: Conversation): boolean => run?.status !== "running" || run.deaths === 0
