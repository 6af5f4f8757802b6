import { type Clock, monotonicOf } from "../../agent/clock.ts"
import type { ModelEndpoint } from "../../protocol/model-facts.ts"
import { JsonAsker, ListFault } from "./ask-json.ts"
import type { ModelListing } from "../providers/model-listing.ts"
import { readList } from "./local-lists.ts"
import type { ToldModel } from "./told-model.ts"

/** One look at an endpoint, with all that it is asked. */
const LOOK_MS = 8000
/** For so long what an endpoint has said is taken for true. */
const FRESH_MS = 5 * 60_000
/** After so long it is asked again where it failed, or where it did not say what is wanted: a model is loaded meanwhile. */
const SOON_MS = 30_000
/** So often at most somebody can have it asked again. */
const AGAIN_MS = 3000
/** Looks under way in this process. Who comes later is answered with what is known, and asks when they look again. */
const MAX_LOOKS = 32
/** Models that are kept in this process, of all endpoints of everybody: some ten megabytes. */
const MAX_KEPT = 20_000

/** How an endpoint is reached: with whose means, and by which way. */
export interface EndpointAccess {
  readonly listing: ModelListing
  readonly fetch: typeof globalThis.fetch
}

/** How old an answer may be for whoever asks. */
export type Urgency = "usual" | "soon" | "again"

const OLD_AFTER: Readonly<Record<Urgency, number>> = { usual: FRESH_MS, soon: SOON_MS, again: AGAIN_MS }

interface Kept {
  models: ReadonlyMap<string, ToldModel>
  leftOut: number
  /** By the monotonic clock, since that is about how old it is. */
  triedAt: number
  /** By the clock on the wall, since that is shown. */
  answeredAt: number | undefined
  problem: string | undefined
  look: Promise<void> | undefined
}

/**
 * What endpoints say of their models, kept in memory for some minutes. They are asked in the background, one look at a time
 * for each; one that fails keeps what it said before. Nothing here ever throws: an endpoint that says nothing is no fault of
 * whoever wanted to know.
 */
export class EndpointLists {
  readonly #clock: Clock
  /** By a key that names the endpoint and whose it is; those that were looked at last come last. */
  readonly #kept = new Map<string, Kept>()
  #looks = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** What it has said, by the ids of models; empty where nothing is known. */
  modelsOf(key: string): ReadonlyMap<string, ToldModel> {
    return this.#kept.get(key)?.models ?? NOTHING
  }

  /** Whether it has ever answered. */
  hasAnswered(key: string): boolean {
    return this.#kept.get(key)?.answeredAt !== undefined
  }

  stateOf(key: string): Omit<ModelEndpoint, "provider"> {
    const { models = NOTHING, leftOut = 0, answeredAt, problem, look } = this.#kept.get(key) ?? {}
    const state = look ? "asking" : problem ? "failed" : answeredAt === undefined ? "unasked" : "answered"
    const at = answeredAt === undefined ? null : new Date(answeredAt).toISOString()
    return { state, models: models.size, leftOut, answeredAt: at, problem: problem ?? null }
  }

  /** Asks where the last answer is too old. Resolves when nothing is under way any more; nobody has to wait for it. */
  look(key: string, access: () => EndpointAccess, urgency: Urgency = "usual"): Promise<void> {
    const now = monotonicOf(this.#clock)
    const kept = this.#kept.get(key) ?? { ...UNKNOWN, triedAt: -Infinity }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (kept.look) return kept.look
    const oldAfter = kept.problem ? Math.min(SOON_MS, OLD_AFTER[urgency]) : OLD_AFTER[urgency]
    if (now - kept.triedAt < oldAfter || this.#looks >= MAX_LOOKS) return Promise.resolve()
    kept.triedAt = now
    this.#looks++
    kept.look = this.#ask(kept, access()).finally(() => {
      kept.look = undefined
      this.#looks--
    })
    return kept.look
  }

  async #ask(kept: Kept, { listing, fetch }: EndpointAccess): Promise<void> {
    const giveUp = new AbortController()
    const cancel = this.#clock.alarm(LOOK_MS, () => giveUp.abort(), "background")
    try {
      const { models, leftOut } = await readList[listing.shape](
        listing,
        new JsonAsker(fetch, listing.headers, giveUp.signal),
      )
      kept.models = new Map(models.map((model) => [model.id, withWindow(model, kept.models.get(model.id))]))
      kept.leftOut = leftOut
      kept.answeredAt = this.#clock.now()
      kept.problem = undefined
    } catch (error) {
      kept.problem = error instanceof ListFault ? error.message : "what it answered cannot be read"
    } finally {
      cancel()
      this.#dropOldest()
    }
  }

  #dropOldest(): void {
    let count = [...this.#kept.values()].reduce((sum, { models }) => sum + models.size + 1, 0)
    for (const [key, { models, look }] of this.#kept) {
      if (count <= MAX_KEPT) return
      if (look) continue
      this.#kept.delete(key)
      count -= models.size + 1
    }
  }
}

/**
 * A model that is not loaded at the moment will be loaded with as much room as the last time, as far as anybody can tell.
 * Forgotten, it would be sent what does not fit, and Ollama drops that without a word.
 */
const withWindow = (model: ToldModel, before: ToldModel | undefined): ToldModel =>
  model.contextTokens === undefined && before && before.maxContextTokens === model.maxContextTokens
    ? { ...model, contextTokens: before.contextTokens }
    : model

const NOTHING: ReadonlyMap<string, ToldModel> = new Map()
const UNKNOWN = { models: NOTHING, leftOut: 0, answeredAt: undefined, problem: undefined, look: undefined }
