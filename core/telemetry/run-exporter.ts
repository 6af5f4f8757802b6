import type { Conversation } from "../engine/conversation.ts"
import type { Journal } from "../engine/journal.ts"
import type { Live } from "../engine/ports.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import { onceMore } from "../shared/concurrency/locks.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import { FirstWords } from "./attributes.ts"
import { type RecordedRun, runSpans } from "./run-spans.ts"
import { rootIdOf, type RunSpan, spanIdOf } from "./span.ts"

/** Runs that wait to be read at most: what comes then is not told, and counted. */
const MAX_WAITING = 1000
/** Runs that are known to be of those that are not told, at most: others are read in vain. */
const MAX_UNTOLD = 10_000

/**
 * Where a run rests or ends. What has ended since the last of these is told by whoever commits the next: each span has
 * ended between two of them, so that exactly one process tells it, also of what another did before it died.
 */
const TOLD_AT: ReadonlySet<string> = new Set(["awaiting_confirmation", "handed_over", "in_doubt", "run_ended"])

interface TellingOptions {
  readonly journal: Pick<Journal, "read">
  readonly clock: Clock
  readonly log: Log
  readonly content: boolean
  readonly tell: (spans: readonly RunSpan[]) => void
  readonly isTold: (run: RunId) => boolean
  readonly dropped: () => void
}

interface Segment {
  readonly id: ConversationId
  /** Told are spans that have ended at positions from this on … */
  readonly from: number
  /** … up to this one. */
  readonly upTo: number
}

/** Hears what is committed and tells of it as spans, read from the journal behind the back of the loop. */
export class RunTeller {
  readonly #options: TellingOptions
  readonly #firstWords: FirstWords
  readonly #waiting: Segment[] = []
  readonly #untold = new Set<ConversationId>()
  #telling: Promise<void> | undefined

  constructor(options: TellingOptions) {
    this.#options = options
    this.#firstWords = new FirstWords(options.clock)
  }

  readonly hear = (id: ConversationId, live: Live): void => {
    if (live.type !== "events")
      return live.type === "gone" ? this.#firstWords.forget(id) : this.#firstWords.hear(id, live)
    // What a fork begins with are copies: it was told when it happened.
    if (live.events[0]?.type === "conversation_started" && live.events[0].forkedFrom) return
    // Before the run that begins with this commit: it may end another.
    if (!this.#untold.has(id)) for (const segment of segmentsOf(id, live.events)) this.#add(segment)
    const start = live.events.findLast((event) => event.type === "run_started")
    if (start) this.#remember(id, this.#options.isTold(start.runId))
  }

  /** Resolves when all that was heard is told. */
  async idle(): Promise<void> {
    await this.#telling
  }

  #remember(id: ConversationId, isTold: boolean): void {
    if (isTold) return void this.#untold.delete(id)
    this.#untold.add(id)
    if (this.#untold.size > MAX_UNTOLD) this.#untold.delete(this.#untold.values().next().value as ConversationId)
  }

  #add(segment: Segment): void {
    if (this.#waiting.length >= MAX_WAITING) return this.#options.dropped()
    this.#waiting.push(segment)
    this.#telling = this.#tellOn()
  }

  readonly #tellOn = onceMore(async () => {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { id } = next
      await this.#tell(next).catch((error: unknown) => {
        this.#options.dropped()
        this.#options.log.warn("run_not_exported", { conversation: id, error })
      })
    }
  })

  async #tell({ id, from, upTo }: Segment): Promise<void> {
    const { journal, content, tell, isTold } = this.#options
    const run = await readRunSoFar(journal, id, upTo)
    if (!run || !isTold(run.events[0].runId)) return
    const firstWords = (since: number, to: number) => this.#firstWords.between(id, since, to)
    const before = run.events.findLast(({ type, position }) => position < from && TOLD_AT.has(type))?.position ?? 0
    const spans = runSpans(run, { content, firstWords })
    tell(spans.filter(({ position }) => position > before && position <= upTo))
    if (run.events.at(-1)?.type === "run_ended") this.#firstWords.forget(id)
  }
}

/** One for each run that comes to such a place in this commit. */
function segmentsOf(id: ConversationId, events: readonly JournalEvent[]): Segment[] {
  const segments: Segment[] = []
  let from: number | undefined
  let upTo: number | undefined
  for (const { type, position } of events) {
    from ??= position
    if (TOLD_AT.has(type)) upTo = position
    if (type !== "run_ended" || upTo === undefined) continue
    segments.push({ id, from, upTo })
    from = upTo = undefined
  }
  if (from !== undefined && upTo !== undefined) segments.push({ id, from, upTo })
  return segments
}

/** How many events are read at first: nearly every run is shorter. */
const FIRST_READ = 48
/** A longer run is not told: so many events at once would be a burden. */
const MAX_EVENTS = 20_000

type Reading = Pick<Journal, "read">

/** The run that has an event at this position, up to there. Undefined where there is none, or one that is too long. */
async function readRunSoFar(journal: Reading, id: ConversationId, upTo: number): Promise<RecordedRun | undefined> {
  for (let count = FIRST_READ; count <= MAX_EVENTS; count *= 4) {
    const after = Math.max(0, upTo - count)
    const rows = await journal.read(id, { after, upTo })
    const start = rows.findLastIndex(({ type }) => type === "run_started")
    if (start >= 0) {
      const agent = await agentOf(journal, id, rows[0])
      const events = rows.slice(start) as JournalEvent[]
      return { conversation: id, agent, events: events as unknown as RecordedRun["events"] }
    }
    if (after === 0) return undefined
  }
  return undefined
}

async function agentOf(journal: Reading, id: ConversationId, first?: JournalEvent | UnknownEvent): Promise<string> {
  const begun = first?.type === "conversation_started" ? first : (await journal.read(id, { upTo: 1 }))[0]
  return (begun as EventOf<"conversation_started"> | undefined)?.agent ?? "unknown"
}

type Writing = "create" | "claim" | "append"
const WRITES: ReadonlySet<PropertyKey> = new Set<Writing>(["create", "claim", "append"])

/**
 * The same journal, with a span for each commit of events. How long a commit took is on no record, so it is told at once,
 * by the process that has waited for it; those of a process that dies before it could tell are left out.
 */
export function observedJournal(journal: Journal, clock: Clock, tell: (spans: readonly RunSpan[]) => void): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...given: unknown[]) => Promise<unknown>
      if (!WRITES.has(name)) return method
      return async (conversation: Conversation, events: readonly JournalEvent[], ...more: unknown[]) => {
        const run = runOf(conversation, events)
        const [at, begun] = [clock.now(), monotonicOf(clock)]
        const outcome = await method(conversation, events, ...more)
        // Refused: somebody else was faster, and nothing was written.
        if (run && outcome !== false && (outcome === undefined || outcome === true || outcome === "claimed"))
          tell([toSpan({ conversation, events, run }, at, at + monotonicOf(clock) - begun)])
        return outcome
      }
    },
  })
}

/** The run that a commit belongs to. One that ends a run and begins the next is part of the new one. */
function runOf({ run }: Conversation, events: readonly JournalEvent[]): RunSpan["run"] | undefined {
  const [first] = events
  if (!first || (first.type === "conversation_started" && first.forkedFrom)) return undefined
  return run?.id
}

interface Written {
  readonly conversation: Conversation
  readonly events: readonly JournalEvent[]
  readonly run: RunSpan["run"]
}

function toSpan({ conversation, events, run }: Written, from: number, to: number): RunSpan {
  const position = events[0]?.position ?? 0
  const attributes = {
    "gen_ai.conversation.id": conversation.id,
    "pawl.run.id": run,
    "pawl.commit.position": position,
    "pawl.commit.events": events.length,
  }
  const of = { run, id: spanIdOf(run, `commit ${position}`), parent: rootIdOf(run), kind: "internal" as const }
  return { ...of, name: "store commit", from, to, attributes }
}
