import type { Conversation } from "../engine/conversation.ts"
import type { Journal } from "../engine/journal.ts"
import type { Live } from "../engine/ports.ts"
import type { EventOf, JournalEvent, UnknownEvent } from "../protocol/events.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import { onceMore } from "../shared/concurrency/locks.ts"
import type { Log } from "../shared/log.ts"
import { type Clock, monotonicOf } from "../shared/time/clock.ts"
import { FirstTokenTimes } from "./attributes.ts"
import { type RecordedRun, runSpans } from "./run-spans.ts"
import { rootIdOf, type RunSpan, spanIdOf } from "./span.ts"

/** Segments that wait to be read. Further ones are dropped and counted. */
const MAX_WAITING = 1000
/** Conversations whose run is known to be unsampled. Others are read in vain. */
const MAX_UNSAMPLED = 10_000

/**
 * A run pauses or ends at these events. The process that commits one exports all spans that ended since the previous
 * one, so exactly one process exports each span, also those of a process that has failed.
 */
const EXPORTED_AT: ReadonlySet<string> = new Set(["awaiting_confirmation", "handed_over", "in_doubt", "run_ended"])

interface ExporterOptions {
  readonly journal: Pick<Journal, "read">
  readonly clock: Clock
  readonly log: Log
  readonly content: boolean
  readonly emit: (spans: readonly RunSpan[]) => void
  readonly isSampled: (run: RunId) => boolean
  readonly dropped: () => void
}

interface Segment {
  readonly id: ConversationId
  /** Spans that ended from this position … */
  readonly from: number
  /** … up to this one. */
  readonly upTo: number
}

/** Reads committed runs from the journal and exports them as spans, without delaying the loop. */
export class RunExporter {
  readonly #options: ExporterOptions
  readonly #firstTokens: FirstTokenTimes
  readonly #waiting: Segment[] = []
  readonly #unsampled = new Set<ConversationId>()
  #exporting: Promise<void> | undefined

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#firstTokens = new FirstTokenTimes(options.clock)
  }

  readonly onLive = (id: ConversationId, live: Live): void => {
    if (live.type !== "events")
      return live.type === "gone" ? this.#firstTokens.forget(id) : this.#firstTokens.onLive(id, live)
    // A fork starts with copies of events that were exported when they happened.
    if (live.events[0]?.type === "conversation_started" && live.events[0].forkedFrom) return
    // Before the run that this commit starts, because the same commit may end another one.
    if (!this.#unsampled.has(id)) for (const segment of segmentsOf(id, live.events)) this.#add(segment)
    const start = live.events.findLast((event) => event.type === "run_started")
    if (start) this.#remember(id, this.#options.isSampled(start.runId))
  }

  /** Resolves when every received event was exported. */
  async idle(): Promise<void> {
    await this.#exporting
  }

  #remember(id: ConversationId, isSampled: boolean): void {
    if (isSampled) return void this.#unsampled.delete(id)
    this.#unsampled.add(id)
    if (this.#unsampled.size > MAX_UNSAMPLED)
      this.#unsampled.delete(this.#unsampled.values().next().value as ConversationId)
  }

  #add(segment: Segment): void {
    if (this.#waiting.length >= MAX_WAITING) return this.#options.dropped()
    this.#waiting.push(segment)
    this.#exporting = this.#exportWaiting()
  }

  readonly #exportWaiting = onceMore(async () => {
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { id } = next
      await this.#export(next).catch((error: unknown) => {
        this.#options.dropped()
        this.#options.log.warn("run_not_exported", { conversation: id, error })
      })
    }
  })

  async #export({ id, from, upTo }: Segment): Promise<void> {
    const { journal, content, emit, isSampled } = this.#options
    const run = await readRunSoFar(journal, id, upTo)
    if (!run || !isSampled(run.events[0].runId)) return
    const firstToken = (since: number, to: number) => this.#firstTokens.between(id, since, to)
    const before = run.events.findLast(({ type, position }) => position < from && EXPORTED_AT.has(type))?.position ?? 0
    const spans = runSpans(run, { content, firstToken })
    emit(spans.filter(({ position }) => position > before && position <= upTo))
    if (run.events.at(-1)?.type === "run_ended") this.#firstTokens.forget(id)
  }
}

/** One segment for each run that pauses or ends in this commit. */
function segmentsOf(id: ConversationId, events: readonly JournalEvent[]): Segment[] {
  const segments: Segment[] = []
  let from: number | undefined
  let upTo: number | undefined
  for (const { type, position } of events) {
    from ??= position
    if (EXPORTED_AT.has(type)) upTo = position
    if (type !== "run_ended" || upTo === undefined) continue
    segments.push({ id, from, upTo })
    from = upTo = undefined
  }
  if (from !== undefined && upTo !== undefined) segments.push({ id, from, upTo })
  return segments
}

/** Events of the first read: nearly every run is shorter. */
const FIRST_READ = 48
/** Longer runs are not exported. */
const MAX_EVENTS = 20_000

type JournalReader = Pick<Journal, "read">

/** The run with an event at this position, up to that position. Undefined if there is none, or if it is too long. */
async function readRunSoFar(
  journal: JournalReader,
  id: ConversationId,
  upTo: number,
): Promise<RecordedRun | undefined> {
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

async function agentOf(
  journal: JournalReader,
  id: ConversationId,
  first?: JournalEvent | UnknownEvent,
): Promise<string> {
  const started = first?.type === "conversation_started" ? first : (await journal.read(id, { upTo: 1 }))[0]
  return (started as EventOf<"conversation_started"> | undefined)?.agent ?? "unknown"
}

type WriteMethod = "create" | "claim" | "append"
const WRITE_METHODS: ReadonlySet<PropertyKey> = new Set<WriteMethod>(["create", "claim", "append"])

/**
 * Wraps a journal so that each commit of events becomes a span. The duration of a commit is not recorded, so the
 * process that waited for it exports it at once.
 */
export function observedJournal(journal: Journal, clock: Clock, emit: (spans: readonly RunSpan[]) => void): Journal {
  return new Proxy(journal, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (typeof value !== "function") return value
      const method = value.bind(target) as (...parameters: unknown[]) => Promise<unknown>
      if (!WRITE_METHODS.has(name)) return method
      return async (conversation: Conversation, events: readonly JournalEvent[], ...more: unknown[]) => {
        const run = runOf(conversation, events)
        const [at, started] = [clock.now(), monotonicOf(clock)]
        const outcome = await method(conversation, events, ...more)
        // Any other outcome is a refusal: nothing was written.
        if (run && outcome !== false && (outcome === undefined || outcome === true || outcome === "claimed"))
          emit([toSpan({ conversation, events, run }, at, at + monotonicOf(clock) - started)])
        return outcome
      }
    },
  })
}

/** The run that a commit belongs to. A commit that ends one run and starts the next belongs to the new one. */
function runOf({ run }: Conversation, events: readonly JournalEvent[]): RunSpan["run"] | undefined {
  const [first] = events
  if (!first || (first.type === "conversation_started" && first.forkedFrom)) return undefined
  return run?.id
}

interface ObservedCommit {
  readonly conversation: Conversation
  readonly events: readonly JournalEvent[]
  readonly run: RunSpan["run"]
}

function toSpan({ conversation, events, run }: ObservedCommit, from: number, to: number): RunSpan {
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
