import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
  SharedV4Warning,
} from "@ai-sdk/provider"
import type { ReplyPart, ThinkingPart } from "../../../engine/model.ts"
import type { SilenceWatch } from "./silence-watch.ts"
import { NotAStream } from "./not-a-stream.ts"
import { brokenReply, type ErrorSource, toProviderError } from "../errors/errors.ts"
import type { Quirks } from "../quirks.ts"
import { ReplyParts, UNFINISHED } from "./reply-parts.ts"
import { withoutThinkTags } from "./think-tags.ts"

/** How chat completions mark the end of their streams, as the last line. */
const DONE = /(^|\n)data: ?\[DONE\]\s*$/

/** How long a connection may stay open behind a finished answer before it is closed from our side. */
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

/** Sends the request and reads up to the first part of the reply; from there on the caller reads and closes. */
export async function openReply(asking: ReplyCall): Promise<{ first: ReplyPart | ThinkingPart; reply: OpenReply }> {
  const { adapter, call, source, watch, quirks } = asking
  let reply: OpenReply | undefined
  try {
    watch.signal.throwIfAborted()
    const asked = adapter.doStream({ ...call, abortSignal: watch.signal })
    const { stream } = await unlessStopped(asked, watch.signal)
    reply = new OpenReply(quirks?.thinksInTags ? withoutThinkTags(stream) : stream, asking)
    return { first: await reply.next(), reply }
  } catch (error) {
    const reason = reasonOf(error, watch, source)
    watch.stop()
    throw reason
  }
}

/** A reply on its way. Must be closed, whether it was read to its end or not. */
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
    // Also where an adapter does not heed the signal, the read that waits is let go.
    watch.signal.addEventListener("abort", () => void this.#reader.cancel().catch(() => {}), { once: true })
  }

  get warnings(): readonly SharedV4Warning[] {
    return this.#parts.warnings
  }

  /** The next part. The last one is `finish`; a reply that breaks before it rejects with a typed error. */
  async next(): Promise<ReplyPart | ThinkingPart> {
    try {
      this.#watch.waiting()
      for (;;) {
        const { done, value } = await this.#reader.read()
        this.#watch.signal.throwIfAborted()
        if (done) throw brokenReply(UNFINISHED, this.#source)
        this.#watch.heard()
        const part = this.#parts.translate(value)
        if (!part) continue
        // One that we end here is not waited for: it might never end by itself.
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

  /** Reads what may follow a finished answer: a connection that came to its end can be used again. */
  async #letEnd(): Promise<void> {
    this.#watch.limitTo(LINGER_MS)
    try {
      while (!(await this.#reader.read()).done);
    } catch {
      // The answer is whole; how its connection ends concerns nobody.
    } finally {
      this.#watch.close()
    }
  }
}

/** Whatever an aborted request fails with, the reason it was aborted for is the error. */
function reasonOf(error: unknown, { signal }: SilenceWatch, source: ErrorSource): unknown {
  if (!signal.aborted) return toProviderError(error, source)
  return signal.reason instanceof NotAStream ? signal.reason.asError(source) : signal.reason
}

/** What the adapter answers, or the reason of the signal as soon as it aborts. */
function unlessStopped(
  asked: PromiseLike<LanguageModelV4StreamResult>,
  signal: AbortSignal,
): Promise<LanguageModelV4StreamResult> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason)
    signal.addEventListener("abort", stop, { once: true })
    asked.then((result) => {
      signal.removeEventListener("abort", stop)
      // Too late: nobody will read it.
      if (signal.aborted) void result.stream.cancel().catch(() => {})
      resolve(result)
    }, reject)
  })
}
