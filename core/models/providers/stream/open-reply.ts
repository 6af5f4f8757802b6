import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4Warning,
} from "@ai-sdk/provider"
import type { ReplyPart, ThinkingPart } from "../../../engine/model.ts"
import type { SilenceWatch } from "./silence-watch.ts"
import { NotAStream } from "./stream-start.ts"
import { brokenReply, type ErrorSource, toProviderError } from "../errors/errors.ts"
import type { Quirks } from "../quirks.ts"
import { ReplyParts, UNFINISHED } from "./reply-parts.ts"
import { withoutThinkTags } from "./think-tags.ts"

/** The last line of a chat-completion stream. */
const DONE = /(^|\n)data: ?\[DONE\]\s*$/

/** How long a connection may stay open after a complete reply. */
const LINGER_MS = 1000

export interface ReplyCall {
  readonly adapter: LanguageModelV4
  readonly call: LanguageModelV4CallOptions
  /** Our name of the model. */
  readonly model: string
  readonly source: ErrorSource
  readonly watch: SilenceWatch
  readonly quirks?: Quirks | undefined
}

/** Sends the request and reads the first part; the caller reads the rest and closes. */
export async function openReply(replyCall: ReplyCall): Promise<{ first: ReplyPart | ThinkingPart; reply: OpenReply }> {
  const { adapter, call, source, watch, quirks } = replyCall
  let reply: OpenReply | undefined
  try {
    watch.signal.throwIfAborted()
    const started = adapter.doStream({ ...call, abortSignal: watch.signal })
    const { stream } = await unlessStopped(started, watch.signal)
    reply = new OpenReply(quirks?.thinksInTags ? withoutThinkTags(stream) : stream, replyCall)
    return { first: await reply.next(), reply }
  } catch (error) {
    const reason = reasonOf(error, watch, source)
    watch.stop()
    throw reason
  }
}

/** A reply in progress. Must be closed, whether it was read to its end or not. */
export class OpenReply {
  readonly #reader: ReadableStreamDefaultReader<LanguageModelV4StreamPart>
  readonly #parts: ReplyParts
  readonly #watch: SilenceWatch
  readonly #source: ErrorSource
  #finished = false

  constructor(stream: ReadableStream<LanguageModelV4StreamPart>, { model, source, watch }: ReplyCall) {
    this.#reader = stream.getReader()
    this.#parts = new ReplyParts(model, source, () => DONE.test(watch.tail))
    this.#watch = watch
    this.#source = source
    // Cancels a pending read even if the adapter ignores the signal.
    watch.signal.addEventListener("abort", () => void this.#reader.cancel().catch(() => {}), { once: true })
  }

  get warnings(): readonly SharedV4Warning[] {
    return this.#parts.warnings
  }

  /** The next part. The last one is `finish`; an incomplete reply rejects with a typed error. */
  async next(): Promise<ReplyPart | ThinkingPart> {
    try {
      this.#watch.waiting()
      for (;;) {
        const { done, value } = await this.#reader.read()
        this.#watch.signal.throwIfAborted()
        if (done) throw brokenReply(UNFINISHED, this.#source)
        this.#watch.onActivity()
        const part = this.#parts.translate(value)
        if (!part) continue
        // A reply that we end ourselves is not read to its end, which might never come.
        this.#finished = value.type === "finish"
        return part
      }
    } catch (error) {
      throw reasonOf(error, this.#watch, this.#source)
    } finally {
      this.#watch.busy()
    }
  }

  close(): void {
    if (this.#finished) void this.#letEnd()
    else this.#watch.stop()
  }

  /** Reads to the end of the stream, so that the connection can be reused. */
  async #letEnd(): Promise<void> {
    this.#watch.limitTo(LINGER_MS)
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The reply is complete, so the rest does not matter.
    } finally {
      this.#watch.close()
    }
  }
}

/** The error of an aborted request is the reason of the abort. */
function reasonOf(error: unknown, { signal }: SilenceWatch, source: ErrorSource): unknown {
  if (!signal.aborted) return toProviderError(error, source)
  return signal.reason instanceof NotAStream ? signal.reason.asError(source) : signal.reason
}

/** The adapter's result, or the reason of the signal as soon as it aborts. */
function unlessStopped(
  started: PromiseLike<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
    started.then((result) => {
      signal.removeEventListener("abort", stop)
      // Too late: the caller has left.
      if (signal.aborted) void result.stream.cancel().catch(() => {})
      resolve(result)
    }, reject)
  })
}
