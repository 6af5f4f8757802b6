import type { DatabaseSync } from "node:sqlite"
import { codeOf, failure, hasCode } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import { type CallOutcome, MAX_FRAME_BYTES, type ToolCall } from "../protocol/socket.ts"
import { mendText, mendValue } from "../protocol/text/text.ts"
import { DAY_MS, type LedgerEntry, Ledger } from "./ledger.ts"
import { inTransaction } from "./open-database.ts"
import { type LocalWorkspace, reads, writes } from "./workspace-actions.ts"
import { own } from "../protocol/own.ts"

/**
 * A tool of this device that is no table: it does what its name says and tells what came of it. What it throws is told
 * too, and means that nothing was done, unless it is `outcome_unknown`, or a change that was told to stop. `signal` aborts
 * when nobody wants it any more, and when the device is closed.
 */
export type Handler = (
  data: JsonObject,
  context: { readonly signal: AbortSignal },
) => HandlerAnswer | Promise<HandlerAnswer>
export interface HandlerAnswer {
  readonly text: string
  readonly data?: unknown
}
export type Handlers = Readonly<Record<string, Handler>>

export interface LocalCallsOptions extends LocalWorkspace {
  readonly db: DatabaseSync
  readonly now: () => number
  readonly handlers: Handlers
  /** Handlers that change nothing, by name. */
  readonly readers?: readonly string[] | undefined
  /** Aborts when the device is closed. */
  readonly signal: AbortSignal
  /** Something went wrong that no answer tells. */
  onProblem?(problem: unknown): void
}

type Work = (signal: AbortSignal) => HandlerAnswer | Promise<HandlerAnswer>

/** What is known of a call; `ended` is there while it runs. */
export type Report =
  | { readonly status: "applied" | "unknown"; readonly outcome: CallOutcome }
  | { readonly status: "running"; readonly ended: Promise<CallOutcome | undefined> }

/** A tool at work. */
interface Running {
  readonly ended: Promise<CallOutcome | undefined>
  readonly stop: AbortController
}

interface Offered {
  readonly id: string
  readonly knowing: boolean
}

/** Room for what stands around an outcome in its frame. */
const MAX_OUTCOME_BYTES = MAX_FRAME_BYTES - 1024

/**
 * Carries out what the server asks for: reads as often as they come, everything else once for each id, however often it
 * is offered and whenever the process dies.
 */
export class LocalCalls {
  readonly #options: LocalCallsOptions
  readonly #ledger: Ledger
  readonly #running = new Map<string, Running>()
  #tidiedAt = Number.NEGATIVE_INFINITY

  constructor(options: LocalCallsOptions) {
    this.#options = options
    this.#ledger = new Ledger(options.db, options.now)
    this.#tidy()
  }

  /**
   * The answer to a call. Undefined where nobody can know one: silence leaves it in doubt, and an answer would be a guess.
   * `knowing`: who offers it has been told that it never came, so this is no late first offer but a second try.
   */
  async perform(call: ToolCall, knowing?: "knowing"): Promise<CallOutcome | undefined> {
    const { action, data = {} } = call
    const offered: Offered = { id: call.id, knowing: knowing !== undefined }
    const look = own(reads, action)
    if (look) return this.#look(() => fitting(look(this.#options, call)))
    const change = own(writes, action)
    if (change) return this.#applyOnce(offered, () => fitting(change(this.#options, call)))
    const handler = own(this.#options.handlers, action)
    if (handler) {
      const work: Work = (signal) => handler(data, { signal })
      if (!this.#options.readers?.includes(action)) return this.#runOnce(offered, work)
      // What it tells, such as what stands in a file, is kept nowhere.
      return this.#running.get(call.id)?.ended ?? this.#begin(call.id, work)
    }
    const names = [reads, writes, this.#options.handlers].flatMap((actions) => Object.keys(actions))
    const error = `This device cannot do "${mendText(action)}". It can: ${names.join(", ")}.`
    return this.#applyOnce(offered, () => ({ error }))
  }

  /** What became of a call. One that never came is refused from now on. Undefined where nobody can know. */
  report(id: string): Report | undefined {
    const running = this.#running.get(id)
    if (running) return { status: "running", ended: running.ended }
    const entry = this.#ledger.settle(id)
    if (entry.state === "begun") return undefined
    if (entry.state === "refused") return { status: "unknown", outcome: {} }
    return { status: "applied", outcome: entry.outcome }
  }

  /** Nobody wants it any more. What it had come to is told as ever. */
  cancel(id: string): void {
    this.#running.get(id)?.stop.abort()
  }

  /** Resolves when no tool is at work any more. */
  async rest(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(({ ended }) => ended))
  }

  #look(work: () => CallOutcome): CallOutcome {
    try {
      return work()
    } catch (error) {
      return { error: sentenceOf(error) }
    }
  }

  /** The effect and the note that this call had it are one commit: after a crash either both are there or neither. */
  #applyOnce(offered: Offered, work: () => CallOutcome): CallOutcome | undefined {
    this.#tidy()
    const once = (work: () => CallOutcome) =>
      inTransaction(this.#options.db, () => {
        const known = this.#known(offered)
        if (known) return answerTo(known)
        const outcome = work()
        this.#ledger.add(offered.id, { state: stateOf(outcome), outcome })
        return outcome
      })
    try {
      return once(work)
    } catch (error) {
      // A refusal is noted like an effect: who was told that nothing happened must not find later that it did.
      if (codeOf(error)) return once(() => ({ error: sentenceOf(error) }))
      if (nothingWritten(error)) return { error: `Nothing was changed: ${sentenceOf(error)}.` }
      throw error
    }
  }

  /** A tool's effects are outside our file, so its beginning is noted before and its end after it. */
  async #runOnce(offered: Offered, work: Work): Promise<CallOutcome | undefined> {
    this.#tidy()
    const { id } = offered
    const running = this.#running.get(id)
    if (running) return running.ended
    const known = inTransaction(this.#options.db, () => {
      const entry = this.#known(offered)
      if (!entry) this.#ledger.add(id, { state: "begun" })
      return entry
    })
    if (known) return answerTo(known)
    return this.#begin(id, work, (outcome) => this.#ledger.end(id, { state: stateOf(outcome), outcome }))
  }

  #known({ id, knowing }: Offered): LedgerEntry | undefined {
    const entry = this.#ledger.find(id)
    return entry?.state === "refused" && knowing ? undefined : entry
  }

  /** Whoever asks for it meanwhile, or wants it no longer, finds it by its id. */
  #begin(id: string, work: Work, note?: (outcome: CallOutcome) => void): Promise<CallOutcome | undefined> {
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, stop.signal])
    const run = async () => {
      try {
        const outcome = await outcomeOf(() => work(signal))
        // Told to stop, a change has been torn, by us: what it throws then is no sign that nothing was done.
        if (note && outcome?.error !== undefined && signal.aborted) return undefined
        // Where nobody knows it stays begun, as after a crash.
        if (outcome) note?.(outcome)
        return outcome
      } finally {
        this.#running.delete(id)
      }
    }
    const ended = run()
    this.#running.set(id, { ended, stop })
    return ended
  }

  /** Old notes go once a day, also where a connection lasts for months. That they cannot go now keeps nobody from working. */
  #tidy(): void {
    const now = this.#options.now()
    if (now - this.#tidiedAt < DAY_MS) return
    this.#tidiedAt = now
    try {
      this.#ledger.prune()
    } catch (problem) {
      this.#options.onProblem?.(problem)
    }
  }
}

/** Undefined where the tool itself cannot tell what it has done: an error would say that it was nothing. */
async function outcomeOf(work: () => HandlerAnswer | Promise<HandlerAnswer>): Promise<CallOutcome | undefined> {
  try {
    // A program that is not checked may answer nothing at all: that it has thrown would be another claim.
    const { text, data } = ((await work()) as Partial<HandlerAnswer> | undefined) ?? {}
    const row = mendValue({ text, ...(data === undefined ? {} : { data }) }) as JsonObject
    if (sizeOf({ row }) <= MAX_OUTCOME_BYTES) return { row }
    if (text === undefined) return { row: {} }
    return {
      row: {
        text: `${mendText(text).slice(0, 10_000)}\n(What it answered was too large to send; this is its beginning.)`,
      },
    }
  } catch (error) {
    return hasCode(error, "outcome_unknown") ? undefined : { error: sentenceOf(error) }
  }
}

const stateOf = (outcome: CallOutcome) => (outcome.error === undefined ? "applied" : "failed")

function answerTo(entry: LedgerEntry): CallOutcome | undefined {
  if (entry.state === "begun") return undefined
  if (entry.state === "refused") return { error: "This call came after the server was told that it never did." }
  return entry.outcome
}

/** Inside the transaction of a write: what cannot be told must not be done. */
function fitting(outcome: CallOutcome): CallOutcome {
  const bytes = sizeOf(outcome)
  if (bytes <= MAX_OUTCOME_BYTES) return outcome
  // The row as it was is a courtesy: whoever asked has read it before.
  if (outcome.before) return fitting({ ...outcome, before: undefined })
  const problem = `The answer would have ${bytes} bytes and ${MAX_OUTCOME_BYTES} can be sent; ask for less at once.`
  throw failure("bad_request", { problem })
}

const sizeOf = (outcome: CallOutcome) => Buffer.byteLength(JSON.stringify(outcome))

const sentenceOf = (error: unknown) => mendText(error instanceof Error ? error.message : String(error))

/** SQLite's busy, locked, read-only, full, cannot open. After any other failure only the file itself can tell. */
const NOTHING_WRITTEN = [5, 6, 8, 13, 14]
function nothingWritten(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  return code !== undefined && NOTHING_WRITTEN.includes(code & 255)
}
