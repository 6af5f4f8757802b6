import type { ConversationId, RunId } from "../../protocol/ids.ts"
import { Semaphore } from "../../shared/concurrency/locks.ts"
import { PausableAlarm } from "../../shared/concurrency/time-limit.ts"
import { type Clock, sleep } from "../../shared/time/clock.ts"
import { type Conversation, pauseReason } from "../conversation.ts"
import { isCancelled } from "../inbox.ts"
import type { Death, Judged, Judgement } from "../journal.ts"
import { type Limits, nextStep } from "../next-step.ts"
import type { Ports } from "../ports.ts"
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
  /** Only another process can continue it: it holds events of a newer version, or works in the folder of a terminal. */
  isLeft = false
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

type Doing = "tool" | "waiting"

interface Suspect {
  readonly id: ConversationId
  readonly doing: Doing
  readonly deaths: number
  readonly blames: number
}

/**
 * Judges what dead processes have left, where a step broke off that had broken off before. Runs in a tool call are suspects,
 * and from their second death on taken up one at a time. Waiting for a provider is none: such a run is blamed only for a
 * death at which nothing else was at work, and stands alone only when death after death has found no other culprit.
 *
 * Each death is judged once, before anything that it left is taken up: a node that finds only a part of it, because another
 * was quicker, goes by the judgement that is on record. In the order in which they are to be taken up.
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

/** How long another node is given to judge, and how often it is asked: what it folds need not be folded here too. */
const [ASKED_EVERY_MS, ASKED_AT_MOST] = [100, 20]

/** Where several nodes find the same death the one that gets its mark on the first conversation judges, the others wait. */
async function judgeOnce(ports: Ports, death: Death): Promise<Judgement> {
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

async function examineAll(ports: Ports, { ids }: Death): Promise<Judgement> {
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

/** Undefined where nothing was broken off, or where it cannot be read: taking it up finds out. */
async function examine({ journal, agents, limits }: Ports, id: ConversationId): Promise<Suspect | undefined> {
  const conversation = await journal.load(id, true).catch(() => undefined)
  const run = conversation?.run
  if (!conversation || run?.status !== "running" || pauseReason(conversation)) return undefined
  const step = nextStep(conversation, agents.of(conversation), limits)
  return { id, doing: TOOL_STEPS.has(step.type) ? "tool" : "waiting", deaths: run.deaths, blames: run.blames }
}

const TOOL_STEPS: ReadonlySet<string> = new Set(["recover-calls", "run-tools", "propose"])

/** Lets runs go one at a time that may have ended the process, so that its next death tells which of them it was. */
export class Isolation {
  readonly #ports: Ports
  readonly #lane = new Semaphore(1)
  /** The look at what dead writers have left that is under way: all who ask at the same time share it. */
  #judging: Promise<Map<ConversationId, Judged>> | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  judge(): Promise<Map<ConversationId, Judged>> {
    return (this.#judging ??= judgeDeaths(this.#ports).finally(() => (this.#judging = undefined)))
  }

  /**
   * Resolves when a job may go on: at its turn where it is a suspect, else at once. What it resolves with lets the next one
   * go. A job that somebody woke is judged first: a dead writer may have had its conversation, and what comes for one run
   * must not take it up before all that was left is judged.
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

  /** A run that is to be cancelled ends no process: it waits for no turn. */
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
      over.resolve() // its place in the line goes to the next one when it comes up
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

/** The step that broke off is behind it: the next suspect may go. */
const isOverIt = ({ run }: Conversation): boolean => run?.status !== "running" || run.deaths === 0
