import { failure } from "../../protocol/errors.ts"
import { type Clock, monotonicOf } from "../../shared/time/clock.ts"
import { FairQueue } from "../../shared/concurrency/fair-queue.ts"
import type { ModelEndpoint } from "../../protocol/models/providers.ts"
import { type EndpointAccess, JsonClient, ListFault, SilentEndpoint } from "./json-client.ts"
import { readList } from "./local-lists.ts"
import type { ReportedModel } from "./reported-model.ts"

/** The time limit of one inquiry. */
const INQUIRY_MS = 8000
/** How long an answer counts as current. */
const FRESH_MS = 5 * 60_000
/** When to ask again after a failure or an incomplete answer: a model may be loaded by then. */
const SOON_MS = 30_000
/** The minimum time between forced requests. */
const AGAIN_MS = 3000
/**
 * Limits of concurrent inquiries at endpoints that people provided. The operator's endpoints are few and need no limit.
 */
const INQUIRIES = {
  atOnce: 32,
  perPerson: 4,
  waiting: 100,
  tooMany: (most: number) => failure("too_many", { what: "queries of yours", most }),
}
/** Limits of cached models from endpoints that people provided, in total and per person: some ten megabytes. */
const MAX_CACHED = 20_000
const MAX_CACHED_PER_PERSON = 2000

/** How old an answer may be. */
export type Urgency = "usual" | "soon" | "again"

const OLD_AFTER: Readonly<Record<Urgency, number>> = { usual: FRESH_MS, soon: SOON_MS, again: AGAIN_MS }

interface CachedList {
  readonly owner: string | undefined
  models: ReadonlyMap<string, ReportedModel>
  leftOut: number
  /** By the monotonic clock, because it measures an age. */
  triedAt: number
  /** By the time of day, because it is shown. */
  answeredAt: number | undefined
  problem: string | undefined
  isSilent: boolean
  look: Promise<void> | undefined
}

/**
 * The model lists of endpoints, cached for some minutes. Endpoints are asked in the background, one inquiry at a time
 * each; if one fails, the previous list stays. Never throws, because a failing endpoint is not the caller's fault.
 */
export class EndpointLists implements Disposable {
  readonly #clock: Clock
  /** By endpoint and owner; least recently used first. */
  readonly #cached = new Map<string, CachedList>()
  readonly #queue = new FairQueue(INQUIRIES)
  readonly #closing = new AbortController()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The listed models by id; empty if nothing is known. */
  modelsOf(key: string): ReadonlyMap<string, ReportedModel> {
    return this.#cached.get(key)?.models ?? NOTHING
  }

  /** Whether it has ever answered. */
  hasAnswered(key: string): boolean {
    return this.#cached.get(key)?.answeredAt !== undefined
  }

  /** Whether the last request got no answer at all, not even an invalid list. */
  isSilent(key: string): boolean {
    return this.#cached.get(key)?.isSilent ?? true
  }

  stateOf(key: string): Omit<ModelEndpoint, "provider"> {
    const { models = NOTHING, leftOut = 0, answeredAt, problem, look } = this.#cached.get(key) ?? {}
    const state = look ? "asking" : problem ? "failed" : answeredAt === undefined ? "unasked" : "answered"
    const at = answeredAt === undefined ? null : new Date(answeredAt).toISOString()
    return { state, models: models.size, leftOut, answeredAt: at, problem: problem ?? null }
  }

  /** Asks if the last answer is too old. Resolves when no inquiry is in flight; callers need not wait. */
  look(key: string, access: () => EndpointAccess, urgency: Urgency = "usual"): Promise<void> {
    const now = monotonicOf(this.#clock)
    const endpoint = access()
    const cached: CachedList = this.#cached.get(key) ?? { ...UNKNOWN, owner: endpoint.owner, triedAt: -Infinity }
    this.#cached.delete(key)
    this.#cached.set(key, cached)
    if (cached.look) return cached.look
    const oldAfter = cached.problem ? Math.min(SOON_MS, OLD_AFTER[urgency]) : OLD_AFTER[urgency]
    if (now - cached.triedAt < oldAfter || this.#closing.signal.aborted) return Promise.resolve()
    cached.triedAt = now
    cached.look = this.#askInTurn(cached, endpoint).finally(() => (cached.look = undefined))
    return cached.look
  }

  /** Aborts all inquiries, which would keep an idle process alive. */
  [Symbol.dispose](): void {
    this.#closing.abort()
  }

  async #askInTurn(cached: CachedList, access: EndpointAccess): Promise<void> {
    const { owner } = access
    if (owner === undefined) return this.#ask(cached, access)
    try {
      await this.#queue.run(owner, this.#closing.signal, () => this.#ask(cached, access))
    } catch {
      // Closed, or too many inquiries wait: asked at the next lookup.
      cached.triedAt = -Infinity
    }
  }

  async #ask(cached: CachedList, access: EndpointAccess): Promise<void> {
    const { listing } = access
    const timeout = new AbortController()
    const cancel = this.#clock.alarm(INQUIRY_MS, () => timeout.abort(), "background")
    const signal = AbortSignal.any([timeout.signal, this.#closing.signal])
    try {
      const { models, leftOut } = await readList[listing.shape](listing, new JsonClient(access, signal))
      cached.models = new Map(models.map((model) => [model.id, withWindow(model, cached.models.get(model.id))]))
      cached.leftOut = leftOut
      cached.answeredAt = this.#clock.now()
      cached.problem = undefined
      cached.isSilent = false
    } catch (error) {
      cached.isSilent = error instanceof SilentEndpoint
      cached.problem = error instanceof ListFault ? error.message : "what it answered cannot be read"
    } finally {
      cancel()
      if (cached.owner !== undefined) {
        this.#dropOldest(MAX_CACHED_PER_PERSON, ({ owner }) => owner === cached.owner)
        this.#dropOldest(MAX_CACHED, ({ owner }) => owner !== undefined)
      }
    }
  }

  #dropOldest(most: number, isCounted: (cached: CachedList) => boolean): void {
    const counted = [...this.#cached].filter(([, cached]) => isCounted(cached))
    let count = counted.reduce((sum, [, { models }]) => sum + models.size + 1, 0)
    for (const [key, { models, look }] of counted) {
      if (count <= most) return
      if (look) continue
      this.#cached.delete(key)
      count -= models.size + 1
    }
  }
}

/**
 * Assumes that an unloaded model will be loaded with the same window as before. Without a window it would get prompts
 * that do not fit, which Ollama truncates silently.
 */
const withWindow = (model: ReportedModel, before: ReportedModel | undefined): ReportedModel =>
  model.contextTokens === undefined && before && before.maxContextTokens === model.maxContextTokens
    ? { ...model, contextTokens: before.contextTokens }
    : model

const NOTHING: ReadonlyMap<string, ReportedModel> = new Map()
const UNKNOWN = {
  models: NOTHING,
  leftOut: 0,
  answeredAt: undefined,
  problem: undefined,
  isSilent: true,
  look: undefined,
}
