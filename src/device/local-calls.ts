import type { DatabaseSync } from "node:sqlite"
import { codeOf, failure } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import { type CallOutcome, MAX_FRAME_BYTES, type ToolCall } from "../protocol/socket.ts"
import { mendText, mendValue } from "../protocol/text/text.ts"
import { type LedgerEntry, Ledger } from "./ledger.ts"
import { inTransaction } from "./open-database.ts"
import { type LocalWorkspace, reads, writes } from "./workspace-actions.ts"
import { own } from "../protocol/own.ts"

/**
 * A tool of this device that is no table: it does what its name says and tells what came of it. What it throws is told
 * too, and means that nothing was done.
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
  /** Aborts when the device is closed. */
  readonly signal: AbortSignal
}

/** What is known of a call; `ended` is there while it runs. */
export type Report =
  | { readonly status: "applied" | "unknown"; readonly outcome: CallOutcome }
  | { readonly status: "running"; readonly ended: Promise<CallOutcome | undefined> }

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
  readonly #running = new Map<string, Promise<CallOutcome | undefined>>()

  constructor(options: LocalCallsOptions) {
    this.#options = options
    this.#ledger = new Ledger(options.db, options.now)
    this.#ledger.prune()
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
    if (handler) return this.#runOnce(offered, (signal) => handler(data, { signal }))
    const names = [reads, writes, this.#options.handlers].flatMap((actions) => Object.keys(actions))
    const error = `This device cannot do "${mendText(action)}". It can: ${names.join(", ")}.`
    return this.#applyOnce(offered, () => ({ error }))
  }

  /** What became of a call. One that never came is refused from now on. Undefined where nobody can know. */
  report(id: string): Report | undefined {
    const ended = this.#running.get(id)
    if (ended) return { status: "running", ended }
    const entry = this.#ledger.settle(id)
    if (entry.state === "begun") return undefined
    if (entry.state === "refused") return { status: "unknown", outcome: {} }
    return { status: "applied", outcome: entry.outcome }
  }

  prune(): void {
    this.#ledger.prune()
  }

  /** Resolves when no tool is at work any more. */
  async rest(): Promise<void> {
    await Promise.allSettled(this.#running.values())
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
  async #runOnce(offered: Offered, work: (signal: AbortSignal) => HandlerAnswer | Promise<HandlerAnswer>) {
    const { id } = offered
    const running = this.#running.get(id)
    if (running) return running
    const known = inTransaction(this.#options.db, () => {
      const entry = this.#known(offered)
      if (!entry) this.#ledger.add(id, { state: "begun" })
      return entry
    })
    if (known) return answerTo(known)
    const ended = this.#runToEnd(id, work)
    this.#running.set(id, ended)
    return ended
  }

  #known({ id, knowing }: Offered): LedgerEntry | undefined {
    const entry = this.#ledger.find(id)
    return entry?.state === "refused" && knowing ? undefined : entry
  }

  async #runToEnd(id: string, work: (signal: AbortSignal) => HandlerAnswer | Promise<HandlerAnswer>) {
    try {
      const outcome = await outcomeOf(() => work(this.#options.signal))
      this.#ledger.end(id, { state: stateOf(outcome), outcome })
      return outcome
    } finally {
      this.#running.delete(id)
    }
  }
}

async function outcomeOf(work: () => HandlerAnswer | Promise<HandlerAnswer>): Promise<CallOutcome> {
  try {
    const { text, data } = await work()
    const row = mendValue({ text, ...(data === undefined ? {} : { data }) }) as JsonObject
    if (sizeOf({ row }) <= MAX_OUTCOME_BYTES) return { row }
    return {
      row: {
        text: `${mendText(text).slice(0, 10_000)}\n(What it answered was too large to send; this is its beginning.)`,
      },
    }
  } catch (error) {
    return { error: sentenceOf(error) }
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
