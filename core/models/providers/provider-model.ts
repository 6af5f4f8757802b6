import type { LanguageModelV4, SharedV4ProviderOptions } from "@ai-sdk/provider"
import { type Clock, sleep, systemClock } from "../../shared/time/clock.ts"
import type {
  StatusPart,
  LeftOutPart,
  Model,
  ModelRequest,
  Price,
  ReplyPart,
  ThinkingPart,
} from "../../engine/model.ts"
import { codeOf } from "../../protocol/errors.ts"
import type { PaidBy } from "../../protocol/conversation/message.ts"
import { refusesMarks, withCacheMarks } from "./request/cache-marks.ts"
import { SilenceWatch } from "./stream/silence-watch.ts"
import { type OpenReply, openReply } from "./stream/open-reply.ts"
import { type ErrorSource, toProviderError } from "./errors/errors.ts"
import { type Quirks, withoutToolChoiceNone, withQuirks } from "./quirks.ts"
import {
  leftByAdapter,
  refusedSettings,
  refusesRequest,
  RememberedRefusals,
  withoutRefused,
} from "./request/rejected-settings.ts"
import { formatOf, mergeOptions, toReplyOptions } from "./request/reply-options.ts"
import type { Dialect } from "./settings-target.ts"
import { attemptsOf, type RetryPolicy, waitAfter } from "./retry.ts"
import { toPrompt, toTools } from "./request/to-prompt.ts"

export interface ProviderModelOptions {
  /** Our name of the model, which also marks its own reasoning. */
  readonly name: string
  readonly provider: string
  readonly countedAs?: string
  /** The provider's display name, for error messages. */
  readonly label?: string
  readonly contextTokens: number
  readonly sees?: Model["sees"]
  readonly price?: Price | null
  readonly paidBy?: PaidBy
  readonly takesTools?: false
  /** Imports the adapter, with the first request, because that takes a tenth of a second. */
  readonly load: () => Promise<LanguageModelV4>
  readonly providerOptions?: SharedV4ProviderOptions
  /** The wire format and whether the model reasons, which determine how settings are sent. */
  readonly dialect?: Dialect
  readonly reasons?: boolean | undefined
  readonly quirks?: Quirks
  /** It caches marked parts of a request, and nothing else. */
  readonly marksCache?: boolean
  /** Keys and the like, which must never appear in an error. */
  readonly secrets?: readonly string[]
  readonly clock?: Clock
  readonly idleMs?: number
  readonly retry?: Omit<RetryPolicy, "clock">
}

/** Longer waits are reported, because a person would notice them. */
const REPORTED_WAIT_MS = 1000

interface OpenedReply {
  readonly first: ReplyPart | ThinkingPart
  readonly reply: OpenReply
  /** The settings that we or the adapter left out. */
  readonly leftOut: LeftOutPart["settings"]
}

/** A model behind an AI SDK adapter. A reply that finishes is complete; everything else is a typed error. */
export class ProviderModel implements Model {
  readonly name: string
  readonly provider: string
  readonly contextTokens: number
  readonly sees: NonNullable<Model["sees"]>
  readonly price: Price | null
  readonly paidBy: PaidBy
  declare readonly takesTools?: false
  declare readonly countedAs?: string
  readonly #options: ProviderModelOptions
  readonly #clock: Clock
  readonly #source: ErrorSource
  readonly #refusals = new RememberedRefusals()
  #adapter: Promise<LanguageModelV4> | undefined
  /** Until the provider rejects them. */
  #marksCache: boolean

  constructor(options: ProviderModelOptions) {
    const { name, provider, label = provider, contextTokens, secrets = [], clock = systemClock } = options
    this.name = name
    this.provider = provider
    this.contextTokens = contextTokens
    this.sees = options.sees ?? { images: false, files: false }
    this.price = options.price ?? null
    this.paidBy = options.paidBy ?? "shared"
    if (options.takesTools === false) this.takesTools = false
    if (options.countedAs !== undefined) this.countedAs = options.countedAs
    this.#options = options
    this.#marksCache = options.marksCache ?? false
    this.#clock = clock
    this.#source = { provider: label, secrets, now: () => clock.now() }
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ReplyPart | StatusPart, void, undefined> {
    const { first, reply } = yield* this.#openWithRetries(request, signal)
    try {
      for (let part = first; ; part = await reply.next()) {
        yield part
        if (part.type === "finish") return
      }
    } finally {
      reply.close()
    }
  }

  /** Retried only before its first part: afterwards a client may have shown it, and would show it twice. */
  async *#openWithRetries(
    request: ModelRequest,
    signal: AbortSignal,
  ): AsyncGenerator<StatusPart, OpenedReply, undefined> {
    const policy = { ...this.#options.retry, clock: this.#clock }
    const { settings } = request
    let refused = this.#refusals.in(settings)
    let pending = request
    for (let attempt = 0; ; attempt++) {
      const allowed = withoutRefused(pending, refused)
      try {
        const opened = await this.#open(allowed, signal)
        this.#refusals.add(settings, refused)
        const allLeftOut = [...refused, ...opened.leftOut]
        if (allLeftOut.length > 0) yield { type: "left_out", settings: allLeftOut }
        return opened
      } catch (error) {
        // A gateway that rejects marks costs one more request, once.
        if (this.#marksCache && refusesMarks(error)) {
          this.#marksCache = false
          attempt--
          continue
        }
        const more = refusedSettings(allowed.settings, error)
        if (more.length > 0) {
          // At once and uncounted, because the number of settings is limited.
          refused = [...refused, ...more]
          attempt--
          continue
        }
        // If a provider rejects a schema, the model still gets it in the prompt, and we check the answer.
        if (pending.answerSchema && refusesRequest(error)) {
          const { answerSchema: _, ...withoutSchema } = pending
          pending = withoutSchema
          attempt--
          continue
        }
        const ms = waitAfter(error, attempt, policy)
        if (ms === undefined) throw error
        const { provider } = this.#source
        const tries = { attempt: attempt + 2, attempts: attemptsOf(policy) }
        if (ms >= REPORTED_WAIT_MS)
          yield { type: "waiting", provider, because: codeOf(error) ?? "provider_error", ms, ...tries }
        await sleep(this.#clock, ms, signal)
        signal.throwIfAborted()
      }
    }
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<OpenedReply> {
    const { name, idleMs, providerOptions, quirks } = this.#options
    const adapter = await this.#load()
    const pending = withoutToolChoiceNone(request, quirks)
    const { options, leftOut } = toReplyOptions(pending, this.#options)
    const merged = mergeOptions(providerOptions, options.providerOptions)
    const prompt = withQuirks(toPrompt(pending, name), quirks)
    const call = {
      prompt: this.#marksCache ? withCacheMarks(prompt, this.#options.dialect) : prompt,
      ...toTools(pending),
      ...options,
      ...formatOf(pending, this.#options),
      ...(merged ? { providerOptions: merged } : {}),
    }
    const { provider } = this.#source
    const watch = new SilenceWatch(signal, { provider, clock: this.#clock, limitMs: idleMs, wantsStream: true })
    const opened = await openReply({ adapter, call, model: name, source: this.#source, watch, quirks })
    return { ...opened, leftOut: [...leftOut, ...leftByAdapter(opened.reply.warnings, request.settings)] }
  }

  async #load(): Promise<LanguageModelV4> {
    this.#adapter ??= this.#options.load()
    try {
      return await this.#adapter
    } catch (error) {
      this.#adapter = undefined
      throw toProviderError(error, this.#source)
    }
  }
}
