import type { DatabaseSync } from "node:sqlite"
import { codeOf, failure, hasCode } from "../../core/protocol/errors.ts"
import type { JsonObject } from "../../core/protocol/schema.ts"
import { type CallOutcome, MAX_FRAME_BYTES, type ToolCall } from "../../core/protocol/socket.ts"
import { mendText, mendValue } from "../../core/shared/text/text.ts"
import { DAY_MS, type LedgerEntry, Ledger } from "./ledger.ts"
import { inTransaction } from "./open-database.ts"
import { type LocalWorkspace, reads, writes } from "./workspace-actions.ts"
import { own } from "../../core/shared/text/json.ts"

/**
 * A tool of this device. It runs and returns its outcome. An error that it throws is reported and means that nothing
 * was done, unless its code is `outcome_unknown` or a change was cancelled. `signal` aborts when the result is no
 * longer needed, and when the device is closed.
 */
export type Handler = (
  data: JsonObject,
  context: { readonly signal: AbortSignal },
) => HandlerAnswer | Promise<HandlerAnswer>
/** The result of a device's tool: text for the model, and optional data for programs. */
export interface HandlerAnswer {
  readonly text: string
  readonly data?: unknown
}
/** The tools of a device, by name. */
export type Handlers = Readonly<Record<string, Handler>>

export interface LocalCallsOptions extends LocalWorkspace {
  readonly db: DatabaseSync
  readonly now: () => number
  readonly handlers: Handlers
  /** The names of handlers that change nothing. */
  readonly readers?: readonly string[] | undefined
  /** Aborts when the device is closed. */
  readonly signal: AbortSignal
  /** Reports a problem that no answer can contain. */
  onProblem?(problem: unknown): void
}

type Work = (signal: AbortSignal) => HandlerAnswer | Promise<HandlerAnswer>

/** The state of a call; `ended` resolves when it ends. */
export type Report =
  | { readonly status: "applied" | "unknown"; readonly outcome: CallOutcome }
  | { readonly status: "running"; readonly ended: Promise<CallOutcome | undefined> }

/** A running tool. */
interface Running {
  readonly ended: Promise<CallOutcome | undefined>
  readonly stop: AbortController
}

interface Offered {
  readonly id: string
  readonly knowing: boolean
}

/** Leaves room for the rest of the frame around an outcome. */
const MAX_OUTCOME_BYTES = MAX_FRAME_BYTES - 1024

/**
 * Executes the server's calls: reads each time, everything else once per call id, even if the call is repeated or the
 * process fails.
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
   * Returns the answer to a call; undefined if its outcome is unknown, because an answer would be a guess and silence
   * leaves it in doubt. `knowing`: the sender already knows that the call never arrived, so this is a new attempt and not a
   * delayed copy.
   */
  async perform(call: ToolCall, knowing?: "knowing"): Promise<CallOutcome | undefined> {
    const { action, data = {} } = call
    const offered: Offered = { id: call.id, knowing: knowing !== undefined }
    const read = own(reads, action)
    if (read) return this.#look(() => fitting(read(this.#options, call)))
    const change = own(writes, action)
    if (change) return this.#applyOnce(offered, () => fitting(change(this.#options, call)))
    const handler = own(this.#options.handlers, action)
    if (handler) {
      const work: Work = (signal) => handler(data, { signal })
      if (!this.#options.readers?.includes(action)) return this.#runOnce(offered, work)
      // The result of a read, such as a file's content, is not stored.
      return this.#running.get(call.id)?.ended ?? this.#begin(call.id, work)
    }
    const names = [reads, writes, this.#options.handlers].flatMap((actions) => Object.keys(actions))
    const error = `This device cannot do "${mendText(action)}". It can: ${names.join(", ")}.`
    return this.#applyOnce(offered, () => ({ error }))
  }

  /** Returns true if an action changes something, or is unknown. */
  isChange(action: string): boolean {
    const { readers, handlers } = this.#options
    const isReader = readers?.includes(action) === true && own(handlers, action) !== undefined
    return own(reads, action) === undefined && !isReader
  }

  /**
   * Returns the state of a call; undefined if it is unknown what happened. A call that never arrived is refused from
   * now on.
   */
  report(id: string): Report | undefined {
    const running = this.#running.get(id)
    if (running) return { status: "running", ended: running.ended }
    const entry = this.#ledger.settle(id)
    if (entry.state === "begun") return undefined
    if (entry.state === "refused") return { status: "unknown", outcome: {} }
    return { status: "applied", outcome: entry.outcome }
  }

  /** Stops a call whose result is no longer needed. Its outcome is still reported. */
  cancel(id: string): void {
    this.#running.get(id)?.stop.abort()
  }

  /** Resolves when no tool is running. */
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

  /** The effect and its ledger entry are one commit, so after a crash there are both or neither. */
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
      // A refusal is stored like an effect: a call that was reported as not done must stay not done.
      if (codeOf(error)) return once(() => ({ error: sentenceOf(error) }))
      if (nothingWritten(error)) return { error: `Nothing was changed: ${sentenceOf(error)}.` }
      throw error
    }
  }

  /** A tool's effects are outside this file, so its start is stored before it runs and its end afterwards. */
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

  /** Runs a tool and registers it under its id, for status requests and cancellation. */
  #begin(id: string, work: Work, note?: (outcome: CallOutcome) => void): Promise<CallOutcome | undefined> {
    const stop = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, stop.signal])
    const run = async () => {
      try {
        const outcome = await outcomeOf(() => work(signal))
        // A change that throws after it was aborted may be half done, so its error does not mean that nothing was done.
        if (note && outcome?.error !== undefined && signal.aborted) return undefined
        // Without an outcome it stays `begun`, as after a crash.
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

  /**
   * Deletes old ledger entries once a day, even during a long connection. A failure to delete them does not stop calls.
   */
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

/** Undefined if the tool itself does not know what it has done; an error would mean that it did nothing. */
async function outcomeOf(work: () => HandlerAnswer | Promise<HandlerAnswer>): Promise<CallOutcome | undefined> {
  try {
    // Untyped handlers may return nothing. Treat that as an empty result rather than an error.
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
  if (entry.state === "refused")
    return { error: "This call arrived after the server had received the answer that it never arrived." }
  return entry.outcome
}

/** Runs within the transaction of a write: an outcome that is too large to send rolls the write back. */
function fitting(outcome: CallOutcome): CallOutcome {
  const bytes = sizeOf(outcome)
  if (bytes <= MAX_OUTCOME_BYTES) return outcome
  // `before` is optional: the server read the row earlier.
  if (outcome.before) return fitting({ ...outcome, before: undefined })
  const problem = `The answer would have ${bytes} bytes and ${MAX_OUTCOME_BYTES} can be sent; ask for less at once.`
  throw failure("bad_request", { problem })
}

const sizeOf = (outcome: CallOutcome) => Buffer.byteLength(JSON.stringify(outcome))

const sentenceOf = (error: unknown) => mendText(error instanceof Error ? error.message : String(error))

/**
 * SQLite's busy, locked, read-only, full, and cannot open. After other errors, only the file shows whether the write
 * was applied.
 */
const NOTHING_WRITTEN = [5, 6, 8, 13, 14]
function nothingWritten(error: unknown): boolean {
  const code = (error as { errcode?: number }).errcode
  return code !== undefined && NOTHING_WRITTEN.includes(code & 255)
}
