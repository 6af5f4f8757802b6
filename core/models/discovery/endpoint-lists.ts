import { failure } from "../../protocol/errors.ts"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { FairQueue } from "../../shared/concurrency/fair-queue.ts"
import type { ModelEndpoint } from "../../protocol/models/providers.ts"
import { type EndpointAccess, JsonAsker, ListFault, SilentEndpoint } from "./ask-json.ts"
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
/** Looks under way at endpoints that people have brought: the operator's, of which there are only so many, wait for none. */
const LOOKS = {
  atOnce: 32,
  perPerson: 4,
  waiting: 100,
  tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
}
/** Models that are kept in this process of what people have brought, of everybody and of one: some ten megabytes. */
const MAX_KEPT = 20_000
const MAX_KEPT_OF_ONE = 2000

/** How old an answer may be for whoever asks. */
export type Urgency = "usual" | "soon" | "again"

const OLD_AFTER: Readonly<Record<Urgency, number>> = { usual: FRESH_MS, soon: SOON_MS, again: AGAIN_MS }

interface Kept {
  readonly owner: string | undefined
  models: ReadonlyMap<string, ToldModel>
  leftOut: number
  /** By the monotonic clock, since that is about how old it is. */
  triedAt: number
  /** By the clock on the wall, since that is shown. */
  answeredAt: number | undefined
  problem: string | undefined
  isSilent: boolean
  look: Promise<void> | undefined
}

/**
 * What endpoints say of their models, kept in memory for some minutes. They are asked in the background, one look at a time
 * for each; one that fails keeps what it said before. Nothing here ever throws: an endpoint that says nothing is no fault of
 * whoever wanted to know.
 */
export class EndpointLists implements Disposable {
  readonly #clock: Clock
  /** By a key that names the endpoint and whose it is; those that were looked at last come last. */
  readonly #kept = new Map<string, Kept>()
  readonly #queue = new FairQueue(LOOKS)
  readonly #closing = new AbortController()

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

  /** Whether it answered nothing the last time that it was asked, not even with a list that cannot be read. */
  isSilent(key: string): boolean {
    return this.#kept.get(key)?.isSilent ?? true
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
    const reached = access()
    const kept: Kept = this.#kept.get(key) ?? { ...UNKNOWN, owner: reached.owner, triedAt: -Infinity }
    this.#kept.delete(key)
    this.#kept.set(key, kept)
    if (kept.look) return kept.look
    const oldAfter = kept.problem ? Math.min(SOON_MS, OLD_AFTER[urgency]) : OLD_AFTER[urgency]
    if (now - kept.triedAt < oldAfter || this.#closing.signal.aborted) return Promise.resolve()
    kept.triedAt = now
    kept.look = this.#askInTurn(kept, reached).finally(() => (kept.look = undefined))
    return kept.look
  }

  /** Breaks off all looks: a process that has nothing else to do would wait for them. */
  [Symbol.dispose](): void {
    this.#closing.abort()
  }

  async #askInTurn(kept: Kept, access: EndpointAccess): Promise<void> {
    const { owner } = access
    if (owner === undefined) return this.#ask(kept, access)
    try {
      await this.#queue.run(owner, this.#closing.signal, () => this.#ask(kept, access))
    } catch {
      // It is closed, or they have very many waiting: asked when they look again.
      kept.triedAt = -Infinity
    }
  }

  async #ask(kept: Kept, access: EndpointAccess): Promise<void> {
    const { listing } = access
    const giveUp = new AbortController()
    const cancel = this.#clock.alarm(LOOK_MS, () => giveUp.abort(), "background")
    const signal = AbortSignal.any([giveUp.signal, this.#closing.signal])
    try {
      const { models, leftOut } = await readList[listing.shape](listing, new JsonAsker(access, signal))
      kept.models = new Map(models.map((model) => [model.id, withWindow(model, kept.models.get(model.id))]))
      kept.leftOut = leftOut
      kept.answeredAt = this.#clock.now()
      kept.problem = undefined
      kept.isSilent = false
    } catch (error) {
      kept.isSilent = error instanceof SilentEndpoint
      kept.problem = error instanceof ListFault ? error.message : "what it answered cannot be read"
    } finally {
      cancel()
      if (kept.owner !== undefined) {
        this.#dropOldest(MAX_KEPT_OF_ONE, ({ owner }) => owner === kept.owner)
        this.#dropOldest(MAX_KEPT, ({ owner }) => owner !== undefined)
      }
    }
  }

  #dropOldest(most: number, isCounted: (kept: Kept) => boolean): void {
    const counted = [...this.#kept].filter(([, kept]) => isCounted(kept))
    let count = counted.reduce((sum, [, { models }]) => sum + models.size + 1, 0)
    for (const [key, { models, look }] of counted) {
      if (count <= most) return
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
const UNKNOWN = {
  models: NOTHING,
  leftOut: 0,
  answeredAt: undefined,
  problem: undefined,
  isSilent: true,
  look: undefined,
}
