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
import { type Quirks, withoutBan, withQuirks } from "./quirks.ts"
import {
  leftByAdapter,
  refusedSettings,
  refusesRequest,
  RememberedRefusals,
  withoutRefused,
} from "./request/left-out.ts"
import { formatOf, mergeOptions, toReplyOptions } from "./request/reply-options.ts"
import type { Dialect } from "./settings-reader.ts"
import { attemptsOf, type RetryPolicy, waitAfter } from "./errors/retry.ts"
import { toPrompt, toTools } from "./request/to-prompt.ts"

export interface ProviderModelOptions {
  /** Our name of the model, which also marks the reasoning that is its own. */
  readonly name: string
  readonly provider: string
  readonly countedAs?: string
  /** The provider as people call it, for error messages. */
  readonly label?: string
  readonly contextTokens: number
  readonly sees?: Model["sees"]
  readonly price?: Price | null
  readonly paidBy?: PaidBy
  readonly takesTools?: false
  /** Loads the adapter; called with the first request, because adapters take a tenth of a second to import. */
  readonly load: () => Promise<LanguageModelV4>
  readonly providerOptions?: SharedV4ProviderOptions
  /** What its server speaks, and whether the model is known to think or not to: settings are told accordingly. */
  readonly dialect?: Dialect
  readonly reasons?: boolean | undefined
  readonly quirks?: Quirks
  /** It keeps what it has read where a request is marked, and nothing unasked. */
  readonly marksCache?: boolean
  /** Keys and the like, which must never appear in an error. */
  readonly secrets?: readonly string[]
  readonly clock?: Clock
  readonly idleMs?: number
  readonly retry?: Omit<RetryPolicy, "clock">
}

/** A wait this long is told: a person begins to wonder. */
const TOLD_MS = 1000

interface Opened {
  readonly first: ReplyPart | ThinkingPart
  readonly reply: OpenReply
  /** What does not count of its settings, as far as we know ourselves and the adapter does. */
  readonly leftOut: LeftOutPart["settings"]
}

/** A model behind an AI SDK adapter. A reply it finishes has ended properly; everything else is a typed error. */
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
  /** Until it is found to refuse them. */
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
    const { first, reply } = yield* this.#openAtLast(request, signal)
    try {
      for (let part = first; ; part = await reply.next()) {
        yield part
        if (part.type === "finish") return
      }
    } finally {
      reply.close()
    }
  }

  /** Retried up to its first part only: from there on somebody may have seen it, and starting over would show it twice. */
  async *#openAtLast(request: ModelRequest, signal: AbortSignal): AsyncGenerator<StatusPart, Opened, undefined> {
    const policy = { ...this.#options.retry, clock: this.#clock }
    const { settings } = request
    let refused = this.#refusals.in(settings)
    let asked = request
    for (let attempt = 0; ; attempt++) {
      const allowed = withoutRefused(asked, refused)
      try {
        const opened = await this.#open(allowed, signal)
        this.#refusals.add(settings, refused)
        const told = [...refused, ...opened.leftOut]
        if (told.length > 0) yield { type: "left_out", settings: told }
        return opened
      } catch (error) {
        // A gateway that does not know marks costs one request more, once.
        if (this.#marksCache && refusesMarks(error)) {
          this.#marksCache = false
          attempt--
          continue
        }
        const more = refusedSettings(allowed.settings, error)
        if (more.length > 0) {
          // At once, and not counted: there are only so many settings to leave out.
          refused = [...refused, ...more]
          attempt--
          continue
        }
        // A schema that its provider cannot hold a model to is still told in words, and checked by us.
        if (asked.answerSchema && refusesRequest(error)) {
          const { answerSchema: _, ...words } = asked
          asked = words
          attempt--
          continue
        }
        const ms = waitAfter(error, attempt, policy)
        if (ms === undefined) throw error
        const { provider } = this.#source
        const tries = { attempt: attempt + 2, attempts: attemptsOf(policy) }
        if (ms >= TOLD_MS) yield { type: "waiting", provider, because: codeOf(error) ?? "provider_error", ms, ...tries }
        await sleep(this.#clock, ms, signal)
        signal.throwIfAborted()
      }
    }
  }

  async #open(request: ModelRequest, signal: AbortSignal): Promise<Opened> {
    const { name, idleMs, providerOptions, quirks } = this.#options
    const adapter = await this.#load()
    const asked = withoutBan(request, quirks)
    const { options, leftOut } = toReplyOptions(asked, this.#options)
    const merged = mergeOptions(providerOptions, options.providerOptions)
    const prompt = withQuirks(toPrompt(asked, name), quirks)
    const call = {
      prompt: this.#marksCache ? withCacheMarks(prompt, this.#options.dialect) : prompt,
      ...toTools(asked),
      ...options,
      ...formatOf(asked, this.#options),
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
