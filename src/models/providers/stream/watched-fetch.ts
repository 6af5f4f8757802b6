import { LoopShare } from "../../../agent/concurrency/loop-share.ts"
import { failure } from "../../../protocol/errors.ts"
import { joinDeltas } from "./join-deltas.ts"
import { type SilenceWatch, watchOf } from "./silence-watch.ts"
import { NotAStream, StreamStart } from "./not-a-stream.ts"

/** One line of a provider's stream; the longest we have seen, a whole answer with its encrypted thinking, has 0.2 MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_REPLY_BYTES = 128 * 1024 * 1024
/** Why a request was refused is told in a few hundred bytes. Adapters read and parse the whole of it in one go, and so do we. */
const MAX_REFUSAL_BYTES = 256 * 1024
const NEWLINE = 10
/** As long as the mark of the end with some room for blank lines behind it. */
const TAIL_BYTES = 32

/** Bytes of an answer that adapters get at a time: a hundred events of chat completions, of which they make 3 ms of work. */
const PORTION_BYTES = 16 * 1024

type Fetch = typeof globalThis.fetch

/** Of all answers, all providers': they share one event loop. */
const reading = new LoopShare(PORTION_BYTES)

/**
 * The `fetch` of every provider adapter. Each byte counts as a sign of life, keep-alive comments included, a reply without
 * end is broken off before it fills the memory, and many fast ones leave the event loop free for everything else.
 */
export function watchedFetch(fetch: Fetch = globalThis.fetch): Fetch {
  return async (input, init) => {
    // Followed to another host, a redirect would take the key in `x-api-key` along.
    const response = await fetch(input, { ...init, redirect: "error" })
    const watch = watchOf(init?.signal)
    watch?.heard()
    if (response.body) {
      const limit = new ReplyLimit()
      const start = response.ok && watch?.wantsStream ? new StreamStart() : undefined
      const most = response.ok ? Number.POSITIVE_INFINITY : MAX_REFUSAL_BYTES
      tap(response, { watch, most }, (bytes) => {
        if (!watch) return
        if (bytes === undefined) {
          if (start?.isOdd) watch.stop(new NotAStream(start.text))
          return
        }
        watch.heard()
        watch.tail = (watch.tail + Buffer.from(bytes.subarray(-TAIL_BYTES)).toString("latin1")).slice(-TAIL_BYTES)
        start?.add(bytes)
        if (start?.isFull) watch.stop(new NotAStream(start.text))
        if (limit.isPassedBy(bytes)) watch.stop(tooLong(watch.provider))
      })
    }
    return response
  }
}

interface Tapping {
  readonly watch: SilenceWatch | undefined
  /** So many bytes are handed on, as if there were no more. */
  readonly most: number
}

/**
 * Hands on what is read from the stream in portions, as the event loop has room for them, and shows what came, and undefined
 * at its end; without the cost of one more stream around it. What is not read waits in the provider's socket.
 */
function tap(
  { body, headers }: Response,
  { watch, most }: Tapping,
  onChunk: (bytes: Uint8Array | undefined) => void,
): void {
  if (!body) return
  const isEventStream = headers.get("content-type")?.startsWith("text/event-stream")
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>
  const getTappedReader = () => {
    const reader = getReader()
    const read = reader.read.bind(reader)
    let left: Uint8Array | undefined
    let room = most
    const take = reading.join()
    reader.read = async () => {
      if (room <= 0) {
        void reader.cancel().catch(() => {})
        return { done: true, value: undefined }
      }
      if (!left) {
        const { done, value } = await read()
        onChunk(value)
        if (done) return { done, value }
        left = isEventStream ? joinDeltas(value) : value
      }
      const value = left.subarray(0, PORTION_BYTES)
      room -= value.length
      left = value.length < left.length ? left.subarray(PORTION_BYTES) : undefined
      const turn = take(value.length)
      if (turn) {
        watch?.queued()
        await turn
        watch?.handedOn()
      }
      return { done: false, value }
    }
    return reader
  }
  body.getReader = getTappedReader as typeof body.getReader
}

class ReplyLimit {
  #total = 0
  #line = 0

  isPassedBy(bytes: Uint8Array): boolean {
    const newline = bytes.lastIndexOf(NEWLINE)
    this.#total += bytes.length
    this.#line = newline === -1 ? this.#line + bytes.length : bytes.length - newline - 1
    return this.#total > MAX_REPLY_BYTES || this.#line > MAX_LINE_BYTES
  }
}

const tooLong = (provider: string): Error =>
  failure("provider_error", { provider, problem: "the reply is longer than any answer and was broken off" })
