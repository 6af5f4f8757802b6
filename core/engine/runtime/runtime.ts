import { codeOf, failure, hasCode } from "../../protocol/errors.ts"
import { type ConversationId, newId, type ProposalId } from "../../protocol/ids.ts"
import { KeyedLock, Semaphore } from "../../shared/concurrency/locks.ts"
import { sleep } from "../../shared/time/clock.ts"
import { accept, onlyNarrows } from "../accept/accept.ts"
import { canBeLeftToNewer, decidedBefore, refuseInput, refuseText } from "../accept/refuse-input.ts"
import type { Conversation } from "../conversation.ts"
import { emptyConversation } from "../empty-conversation.ts"
import { requireModel } from "../fallback.ts"
import { fork, type Forking } from "../fork.ts"
import { waitsBehindOthers, isCancelled, isNeverQueued, pendingInput, isHandledAtOnce } from "../inbox.ts"
import { type Beginning, type Input, type MessageInput, settingsOf } from "../input.ts"
import type { Judged } from "../journal.ts"
import { runConversation } from "../loop.ts"
import { nextStep, isIdle } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import { stage } from "../replay/replay.ts"
import { Isolation, Job } from "./job.ts"
import { reclaim, FailedWriterRecovery } from "./recovery.ts"
import { Titles } from "./titles.ts"

/** `taken`: in the journal, and work on it has started. `kept`: durable in the inbox of a busy conversation. */
type Submitted = "taken" | "kept"

const ATTEMPTS = 20
/**
 * Input that starts or extends work, or can be sent without limit. All other input is accepted also if a user's storage
 * is full: a decision, a result or a cancel ends work.
 */
const NEEDS_ROOM: ReadonlySet<Input["type"]> = new Set(["message", "resume", "compact", "edit", "again", "settings"])
/** A generated title is submitted once, so it may exceed the storage limit. */
const isModelsTitle = (input: Input) => input.type === "settings" && input.titledBy !== undefined
const FIRST_RETRY_MS = 50
const LONGEST_RETRY_MS = 5000
/** Conversations resumed at a time after a crash, so that the first continues before the last is read from disk. */
const MAX_CONCURRENT_RESUMES = 32

/** Accepts input for conversations and runs their loops in this process. */
export class Runtime {
  readonly ports: Ports
  readonly #jobs = new Map<ConversationId, Job>()
  readonly #locks = new KeyedLock()
  readonly #resumeSlots = new Semaphore(MAX_CONCURRENT_RESUMES)
  readonly #isolation: Isolation
  readonly #recovery: FailedWriterRecovery
  readonly #titles: Titles
  /** Conversations that only other processes can continue. They are not read again at each poll. */
  readonly #left = new Set<ConversationId>()
  #takeovers = 0
  readonly #unsubscribe: () => void
  readonly #closed = new AbortController()
  /** Aborts when this process shuts down and accepts no more input. */
  readonly closing: AbortSignal = this.#closed.signal

  constructor(ports: Ports) {
    this.ports = ports
    this.#isolation = new Isolation(ports)
    const isWorking = (id: ConversationId) => this.#jobs.has(id)
    const begin = (id: ConversationId, judged: Judged, marksItself: boolean) =>
      this.#resumeAbandoned(id, judged, marksItself)
    const { journal, log } = ports
    this.#recovery = new FailedWriterRecovery({
      journal,
      log,
      isolation: this.#isolation,
      isWorking,
      left: this.#left,
      begin,
    })
    this.#titles = new Titles(ports, this.closing, (id, input) => this.submit(id, input))
    this.#unsubscribe = ports.bus.onWake((id, from) => void this.#woken(id, from))
  }

  /** Creates a conversation with the journal of another one up to a position. */
  fork(id: ConversationId, position: number, options: Forking): Promise<Conversation> {
    return fork(this.ports, id, position, options)
  }

  /** Creates a conversation, with its first message in the same commit if there is one. */
  async begin(beginning: Beginning, message?: MessageInput): Promise<Conversation> {
    const { journal, agents, clock, bus } = this.ports
    const { user, model = null, provider = null, mode = "confirm", title = null } = beginning
    refuseText(beginning)
    await this.ports.room.demandRoom(user)
    const agent = agents.get(beginning.agent)
    const now = clock.now()
    const conversation = emptyConversation(beginning.id ?? newId("conv", user, now), user)
    const events = stage(
      conversation,
      [{ type: "conversation_started", agent: agent.name, model, provider, mode, title, ...settingsOf(beginning) }],
      now,
    )
    if (message) {
      refuseText(message)
      await requireModel({ conversation, agent, ports: this.ports })
      const { maxIterations } = agent
      const accepted = accept(conversation, message, { now, maxIterations, timeZone: this.ports.timeZone })
      events.push(...stage(conversation, accepted, now))
    }
    const { id } = conversation
    return this.#locks.run(id, async () => {
      await this.#recheckIfUncertain(id, () => journal.create(conversation, events, message !== undefined))
      bus.publish(id, { type: "events", user: conversation.user, events })
      if (message) this.#work(id, true)
      return conversation
    })
  }

  /** Makes an input durable: an idle conversation handles it at once, a busy one stores it in its inbox. */
  async submit(id: ConversationId, input: Input): Promise<Submitted> {
    refuseText(input)
    if (await this.#needsRoom(id, input)) await this.ports.room.demandRoomFor(id)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const job = this.#jobs.get(id)
      // The job has released the lease and is shutting down, so the conversation counts as idle.
      if (job && !job.claiming && !this.ports.journal.isWriterOf(id)) await job.done
      const outcome = this.#jobs.has(id) ? "busy" : await this.#locks.run(id, () => this.#accept(id, input))
      if (outcome === "taken") return outcome
      if (outcome === "busy" && !(await this.#isIdleInJournal(id, input))) return this.#enqueue(id, input)
    }
    throw failure("busy", { id })
  }

  /** Resolves when this process does not work on the conversation. True if it did, and no work is left. */
  async rest(id: ConversationId): Promise<boolean> {
    let rested = false
    for (let job = this.#jobs.get(id); job; job = this.#jobs.get(id)) {
      await job.done
      rested = job.rested
    }
    return rested
  }

  isWorking(id: ConversationId): boolean {
    return this.#jobs.has(id)
  }

  /** The conversations at work in this process. */
  working(): Iterable<ConversationId> {
    return this.#jobs.keys()
  }

  /** Call this when the lease is lost. Stops the work in this process. */
  onLeaseLost(id: ConversationId): void {
    this.ports.journal.drop(id)
    this.#jobs.get(id)?.stop("shutdown")
  }

  /** The runs at work in this process that a credential started, also those started before a restart. */
  async runsByCredential(): Promise<{ id: ConversationId; user: Conversation["user"]; credential: string }[]> {
    const ids = [...this.#jobs.keys()].filter((id) => this.ports.journal.isWriterOf(id))
    const loaded = await Promise.allSettled(ids.map((id) => this.ports.journal.load(id)))
    return loaded.flatMap((one) => {
      if (one.status === "rejected") return [] // one that cannot be read must not hide the others
      const { id, user, run } = one.value
      return run?.status === "running" && run.credential !== undefined ? [{ id, user, credential: run.credential }] : []
    })
  }

  /** Continues the work of failed writers. Returns how many conversations it found. */
  recover(limit = 1000): Promise<number> {
    return this.#recovery.scan(limit)
  }

  /** How many conversations of other nodes this one has continued. */
  get takeovers(): number {
    return this.#takeovers
  }

  /** Stops accepting input and releases all conversations, for the next process to continue. */
  async close(): Promise<void> {
    this.#unsubscribe()
    this.#closed.abort()
    for (const job of this.#jobs.values()) job.stop("shutdown")
    await this.#locks.idle() // a commit in progress may start a job that only releases the lease
    await Promise.all([...[...this.#jobs.values()].map((job) => job.done), this.#titles.idle()])
  }

  async #needsRoom(id: ConversationId, input: Input): Promise<boolean> {
    if (input.type !== "settings" || input.mode === undefined)
      return NEEDS_ROOM.has(input.type) && !isModelsTitle(input)
    return !onlyNarrows(await this.ports.journal.load(id, true), input)
  }

  async #accept(id: ConversationId, input: Input): Promise<"taken" | "moved" | "busy"> {
    const { journal, agents, clock, limits, bus } = this.ports
    // Input that is checked against the state needs the state on disk. A message fits any state, and the claim detects
    // an outdated one.
    const conversation = await journal.load(id, input.type !== "message" || input.behind !== undefined)
    const now = clock.now()
    if (conversation.hasUnknownEvents && canBeLeftToNewer(input) && (await journal.hasNewerNode())) return "busy"
    refuseInput(conversation, input, now)
    const isAtWork = this.#jobs.has(id) || journal.mayAppend(conversation)
    if (this.closing.aborted || isAtWork || !isHandledAtOnce(conversation, input)) return "busy"
    // Handle earlier input first, so that a delayed result is recorded for this message, not for the next.
    if (pendingInput(conversation).length > 0 || waitsBehindOthers(conversation, input)) return "busy"
    const agent = agents.get(conversation.agent) && agents.of(conversation)
    if (input.type === "message" || input.type === "resume")
      await requireModel({ conversation, agent, ports: this.ports })
    const { maxIterations } = agent
    const newEvents = accept(conversation, input, { now, maxIterations, timeZone: this.ports.timeZone })
    if (newEvents.length === 0 && !("proposalId" in input)) return "taken"
    const events = stage(conversation, newEvents, now)
    const release = isIdle(nextStep(conversation, agent, limits))
    const claimed = await this.#recheckIfUncertain(id, () =>
      journal.claim(conversation, events, { release, deciding: input }),
    )
    if (claimed === "decided") return "busy" // `addToInbox` rejects it and returns the decision
    if (claimed !== "claimed") return claimed
    bus.publish(id, { type: "events", user: conversation.user, events })
    if (journal.mayAppend(conversation)) this.#work(id, true)
    return "taken"
  }

  /** A client may see a commit before this writer gets its confirmation. Do not refuse that client as busy. */
  async #isIdleInJournal(id: ConversationId, input: Input): Promise<boolean> {
    if (!this.#jobs.has(id) || !(await isNeverQueued(input, this.ports.journal))) return false
    const [recorded] = await this.ports.journal.recorded([id])
    if (!recorded || recorded.atWork) return false
    await this.rest(id)
    return true
  }

  async #enqueue(id: ConversationId, input: Input): Promise<"kept"> {
    const { journal, bus } = this.ports
    if (this.closing.aborted) throw failure("draining")
    if (await isNeverQueued(input, journal)) throw failure("busy", { id })
    const outcome = await journal.addToInbox(id, input)
    if (outcome !== "kept") throw decidedBefore(input, outcome)
    bus.wake(id)
    return "kept"
  }

  /** A failed commit may have succeeded on the server. Then this node is the writer and must check. */
  async #recheckIfUncertain<T>(id: ConversationId, commit: () => Promise<T>): Promise<T> {
    try {
      return await commit()
    } catch (error) {
      if (codeOf(error) === "store_unavailable") this.#work(id, false)
      throw error
    }
  }

  /** Takes the lock, so that a commit in progress is not mistaken for an abandoned conversation. */
  #resumeAbandoned(id: ConversationId, judged: Judged, marksItself: boolean): Promise<Job | undefined> {
    return this.#locks.run(id, async () => {
      if (this.#jobs.has(id)) return undefined
      return this.#startJob(id, false, { judged, marksItself })
    })
  }

  /** Ensures that a job works on the conversation. `isWriter`: this node is already its writer. */
  #work(id: ConversationId, isWriter: boolean): void {
    const running = this.#jobs.get(id)
    if (running) running.again = true
    else this.#startJob(id, isWriter)
  }

  #startJob(id: ConversationId, isWriter: boolean, found: { judged?: Judged; marksItself?: boolean } = {}): Job {
    const job = Object.assign(new Job(id, this.ports.clock, this.ports.limits), found)
    this.#jobs.set(id, job)
    job.done = this.#drive(job, isWriter)
    return job
  }

  async #drive(job: Job, isWriter: boolean): Promise<void> {
    const { id } = job
    const { journal, bus, clock, log } = this.ports
    job.claiming = !isWriter
    const releaseTurn = isWriter ? undefined : await this.#isolation.turnOf(job)
    for (let failures = 0, mine = isWriter; !this.closing.aborted; mine = false) {
      try {
        job.again = false
        job.rested = false
        job.claiming = !mine
        if (!mine && !(await this.#resumeSlots.run(() => this.#locks.run(id, () => this.#reclaim(job))))) {
          if (job.again) continue // input arrived in the meantime
          break
        }
        job.claiming = false
        job.endClaimTry()
        await this.#titles.after(id, () => runConversation(id, this.ports, job))
        failures = 0
        job.rested = true
        if (!job.again) break
      } catch (error) {
        // The state in memory may differ from the journal. Reload it, as after a crash.
        job.claiming = true
        job.endClaimTry()
        journal.drop(id)
        const code = codeOf(error)
        if (error === "shutdown" || code === "lease_lost" || code === "not_found") break
        // The run is not at fault if the store is unreachable, and must not be stopped for that.
        job.judged = { ...(code === "store_unavailable" ? { blame: "none" } : {}), alone: false }
        log.error("loop_failed", { conversation: id, error })
        await sleep(clock, Math.min(FIRST_RETRY_MS * 2 ** failures++, LONGEST_RETRY_MS))
      }
    }
    if (this.closing.aborted)
      await journal.release(id).catch((error: unknown) => log.warn("release_failed", { conversation: id, error }))
    job.end()
    releaseTurn?.()
    this.#jobs.delete(id)
    bus.publish(id, { type: "rest" })
  }

  async #reclaim(job: Job): Promise<boolean> {
    const mine = await reclaim(this.ports, job)
    if (job.isLeft) this.#left.add(job.id)
    if (job.tookOver) this.#takeovers++
    job.tookOver = false
    return mine
  }

  /** Input has arrived. A job at work reads it at once; without one, a node that can continues the conversation. */
  async #woken(id: ConversationId, from: "here" | "elsewhere"): Promise<void> {
    const job = this.#jobs.get(id)
    if (job || from === "here") this.#work(id, false) // on another node, the sender has tried to continue it there
    if (!job) return
    try {
      const conversation = await this.ports.journal.readInbox(id)
      if (conversation && isCancelled(conversation)) job.stop("cancel")
      else if (!conversation && job.claiming) await this.#isolation.letStop(job)
    } catch (error) {
      this.ports.log.warn("poll_failed", { conversation: id, error })
    }
  }
}

interface DecideAll {
  /** `all` and `none` also answer later proposals: the mode becomes `auto` or `read-only`. */
  readonly decision: "yes" | "no" | "all" | "none"
  /** The proposals that the user was shown. Later ones are not decided. */
  readonly proposalIds: readonly ProposalId[]
  readonly by: string
  readonly credential?: string
}

/** Decides several proposals of a conversation at once. Those that were decided in the meantime stay as they are. */
export async function decideAll(
  runtime: Runtime,
  id: ConversationId,
  { decision, proposalIds, ...who }: DecideAll,
): Promise<void> {
  if (decision === "all" && runtime.ports.policy.forbidAuto) throw failure("mode_forbidden", { mode: "auto" })
  // Refused before anything is decided: a wider mode cannot be set if the storage is full.
  if (decision === "all") await runtime.ports.room.demandRoomFor(id)
  const verdict = decision === "yes" || decision === "all" ? "commit" : "reject"
  // Read-only comes first, so that no write can run between two rejections.
  if (decision === "none") await runtime.submit(id, { type: "settings", mode: "read-only" })
  for (const proposalId of proposalIds) {
    try {
      await runtime.submit(id, { type: "decide", proposalId, decision: verdict, ...who })
    } catch (error) {
      if (!hasCode(error, "proposal_decided") && !hasCode(error, "proposal_expired")) throw error
    }
  }
  if (decision === "all") await runtime.submit(id, { type: "settings", mode: "auto" })
}
