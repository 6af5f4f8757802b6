import type { Clock } from "../agent/clock.ts"
import type { Journal } from "../agent/journal.ts"
import type { Live, Log } from "../agent/ports.ts"
import type { JournalEvent } from "../protocol/events.ts"
import type { ConversationId, RunId } from "../protocol/ids.ts"
import { onceMore } from "../protocol/once-more.ts"
import { FirstWords } from "./first-words.ts"
import { readRunSoFar } from "./read-run.ts"
import { runSpans } from "./run-spans.ts"
import type { RunSpan } from "./span.ts"

/** Runs that wait to be read at most: what comes then is not told, and counted. */
const MAX_WAITING = 1000
/** Runs that are known to be of those that are not told, at most: others are read in vain. */
const MAX_UNTOLD = 10_000

/**
 * Where a run rests or ends. What has ended since the last of these is told by whoever commits the next: each span has
 * ended between two of them, so that exactly one process tells it, also of what another did before it died.
 */
const TOLD_AT: ReadonlySet<string> = new Set(["awaiting_confirmation", "handed_over", "in_doubt", "run_ended"])

export interface TellingOptions {
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
        this.#options.log.warn("run_not_told", { conversation: id, error })
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
