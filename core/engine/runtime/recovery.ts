import type { ConversationId } from "../../protocol/ids.ts"
import { pauseReason } from "../conversation.ts"
import type { Agent } from "../definition/agent.ts"
import type { Judged, Loads } from "../journal.ts"
import { nextStep, isIdle } from "../next-step.ts"
import type { Ports } from "../ports.ts"
import { stage } from "../replay/replay.ts"
import type { Isolation, Job } from "./job.ts"

/** How many conversations are continued at a time, so that other nodes can take what a slow node has not marked. */
const PORTION = 32
/** So few go to the first node that finds them, because sharing would only delay some of them. */
const NOT_SHARED = 8

interface RecoveryPorts extends Pick<Ports, "journal" | "log"> {
  readonly isolation: Isolation
  isWorking(id: ConversationId): boolean
  /** Left to nodes of a newer version, or to the terminal whose folder they use. */
  readonly left: ReadonlySet<ConversationId>
  /** Starts a job unless this process has one for the conversation. */
  begin(id: ConversationId, judged: Judged, marksItself: boolean): Promise<Job | undefined>
}

type Judgements = ReadonlyMap<ConversationId, Judged>

/**
 * Continues the work of failed writers. If several processes share the database, each takes its share in portions; the
 * rest is free for all at the next poll.
 */
export class FailedWriterRecovery {
  readonly #ports: RecoveryPorts
  /** Conversations left to the other nodes at the last poll. */
  #passedOver: ReadonlySet<ConversationId> = new Set()

  constructor(ports: RecoveryPorts) {
    this.#ports = ports
  }

  /** Returns how many conversations it has started to continue. */
  async scan(limit: number): Promise<number> {
    const { journal, isolation, isWorking, left } = this.#ports
    // Raise the limit, or conversations left to a newer Pawl version would crowd out the others.
    const all = await journal.abandoned(limit + left.size)
    const found = all.filter((id) => !isWorking(id) && !left.has(id))
    if (found.length === 0) return 0
    const judged = await isolation.judge()
    // Suspected ones last, in their order, so that the others need not wait.
    const mine = new Set(found)
    const suspects = [...judged.keys()].filter((id) => mine.has(id))
    const others = found.filter((id) => !judged.has(id))
    if (!journal.sharesWork) return this.#startAll([...others, ...suspects], judged)
    const isAlone = (id: ConversationId) => judged.get(id)?.alone === true
    const taken = await this.#claimShare([...others, ...suspects.filter((id) => !isAlone(id))], judged)
    // Each node queues all of them, and at its turn takes the next one that no other has.
    return taken + (await this.#startAll(suspects.filter(isAlone), judged, true))
  }

  async #startAll(ids: readonly ConversationId[], judged: Judgements, marksItself = false): Promise<number> {
    await Promise.all(ids.map((id) => this.#startJob(id, judged, marksItself)))
    return ids.length
  }

  async #claimShare(ids: readonly ConversationId[], judged: Judgements): Promise<number> {
    const late = ids.filter((id) => this.#passedOver.has(id)).length
    const free = new Set(ids)
    let room = late + (await this.#shareOf(ids.length - late))
    // After one empty result another node may have claimed these; after two in a row, none are left.
    for (let inVain = 0; room > 0 && free.size > 0 && inVain < 2;) {
      const marked = await this.#ports.journal.earmark([...free], Math.min(room, PORTION))
      inVain = marked.length === 0 ? inVain + 1 : 0
      for (const id of marked) free.delete(id)
      const jobs = await Promise.all(marked.map((id) => this.#startJob(id, judged, false)))
      const claimed = this.#whenClaimed(marked, jobs)
      room -= marked.length
      if (room > 0) await claimed
    }
    this.#passedOver = free
    return ids.length - free.size
  }

  #startJob(id: ConversationId, judged: Judgements, marksItself: boolean): Promise<Job | undefined> {
    return this.#ports.begin(id, judged.get(id) ?? { alone: false }, marksItself)
  }

  /** Resolves when this node is their writer, or knows that it cannot be. Never rejects. */
  async #whenClaimed(ids: readonly ConversationId[], jobs: readonly (Job | undefined)[]): Promise<void> {
    const { journal, log } = this.#ports
    await Promise.all(jobs.flatMap((job) => (job ? [job.claimTried] : [])))
    await journal.unmark(ids).catch((error: unknown) => log.warn("poll_failed", { error }))
  }

  async #shareOf(count: number): Promise<number> {
    if (count <= NOT_SHARED) return count
    return Math.max(NOT_SHARED, shareOf(count, await this.#ports.journal.loads()))
  }
}

/** This node's share, in proportion to how far each node is below the average load. */
function shareOf(count: number, { here, others }: Loads): number {
  const even = (count + here + others.reduce((sum, load) => sum + load, 0)) / (others.length + 1)
  const room = Math.max(0, even - here)
  const rooms = others.reduce((sum, load) => sum + Math.max(0, even - load), room)
  return Math.ceil((count * room) / rooms)
}

const ATTEMPTS = 20

/** Becomes the writer if there is none and there is work, and records if work was interrupted. */
export async function reclaim(ports: Ports, job: Job): Promise<boolean> {
  if (!job.marksItself) return claimLeftBehind(ports, job)
  const { journal } = ports
  job.marksItself = false
  // Other nodes have it in their queues as well: only the first reads it.
  if ((await journal.earmark([job.id], 1)).length === 0) return false
  try {
    return await claimLeftBehind(ports, job)
  } finally {
    // It expires by itself: a successful claim must not be undone for it.
    await journal.unmark([job.id]).catch((error: unknown) => ports.log.warn("unmark_failed", { error }))
  }
}

async function claimLeftBehind(ports: Ports, job: Job): Promise<boolean> {
  const { journal, agents, clock, limits, bus } = ports
  const { id, judged } = job
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const conversation = await journal.load(id, true)
    if (journal.mayAppend(conversation)) return true
    const agent = agents.of(conversation)
    const broken = conversation.run?.status === "running" && !pauseReason(conversation)
    const release = isIdle(nextStep(conversation, agent, limits))
    const { owned, elsewhere, handedOver, unread } = journal.leftBehind(conversation)
    // The folder of a terminal: only the process that has it open can run these tools.
    const isOfTerminal = conversation.site === "server" && worksOnFiles(agent) && ports.isOfTerminal?.(id) === true
    job.isLeft = conversation.hasUnknownEvents || isOfTerminal
    if (job.isLeft || (release && !owned && !unread)) return false
    // A writer that shut down in order has released it first; one that failed has not.
    const blame = judged?.blame && !handedOver ? { blame: judged.blame } : {}
    const restarted = { type: "restarted", because: handedOver ? "handover" : "crash", ...blame } as const
    const events = stage(conversation, broken ? [restarted] : [], clock.now())
    const claimed = await journal.claim(conversation, events, { release, withInbox: true })
    if (claimed === "busy") return false
    if (claimed !== "claimed") continue
    job.tookOver = elsewhere
    if (events.length > 0) bus.publish(id, { type: "events", user: conversation.user, events })
    return journal.mayAppend(conversation)
  }
  return false
}

const worksOnFiles = ({ tools }: Agent): boolean => tools.names.some((name) => tools.find(name)?.onSite === "files")
