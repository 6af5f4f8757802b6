import { LoopShare } from "../../../shared/concurrency/loop-share.ts"
import { failure } from "../../../protocol/errors.ts"
import { type JsonLimits, jsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { joinDeltas } from "./join-deltas.ts"
import { type SilenceWatch, watchOf } from "./silence-watch.ts"
import { NotAStream, StreamStart } from "./not-a-stream.ts"

/**
 * An event of at most this size holds few enough values to be parsed as it is. The largest we have seen, a whole answer with
 * its encrypted thinking, has 0.2 MB.
 */
const SHORT_EVENT = 64 * 1024
const MAX_REPLY_BYTES = 128 * 1024 * 1024
/** Why a request was refused is told in a few hundred bytes. Adapters read and parse the whole of it in one go, and so do we. */
const MAX_REFUSAL_BYTES = 256 * 1024
/** As long as the mark of the end with some room for blank lines behind it. */
const TAIL_BYTES = 32

/** Bytes of an answer that adapters get at a time: a hundred events of chat completions, of which they make 3 ms of work. */
const PORTION_BYTES = 16 * 1024

type Fetch = typeof globalThis.fetch

interface AnswerForm {
  /** In frames that say their length, which `framedFetch` counts, and not as an event stream. */
  readonly inFrames?: boolean | undefined
  /** What one event, or the whole answer where it is no stream, may hold. */
  readonly limits?: JsonLimits
}

/** Of all answers, all providers': they share one event loop. */
const reading = new LoopShare(PORTION_BYTES)

/**
 * The `fetch` of every provider adapter. Each byte counts as a sign of life, keep-alive comments included, a reply without
 * end is broken off before it fills the memory, and many fast ones leave the event loop free for everything else.
 */
export function watchedFetch(fetch: Fetch = globalThis.fetch, form: AnswerForm = {}): Fetch {
  return async (input, init) => {
    // Followed to another host, a redirect would take the key in `x-api-key` along.
    const response = await fetch(input, { ...init, redirect: "error" })
    const watch = watchOf(init?.signal)
    watch?.heard()
    if (response.body) {
      const limit = new ReplyLimit(form)
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

/** Counts what a reply holds, in all and in each event, because adapters parse an event in one go. */
class ReplyLimit {
  readonly #meter: JsonMeter
  readonly #inFrames: boolean
  #total = 0
  /** The pieces of an event that is short so far: nearly all stay so, and are never counted. */
  #pieces: Buffer[] = []
  #size = 0

  constructor({ inFrames, limits = jsonLimits.streamEvent }: AnswerForm) {
    this.#meter = new JsonMeter(limits)
    this.#inFrames = inFrames === true
  }

  isPassedBy(bytes: Uint8Array): boolean {
    this.#total += bytes.length
    if (this.#total > MAX_REPLY_BYTES) return true
    if (this.#inFrames) return false
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    // What ends in this piece is counted as one event, which is too much by the few values of a piece.
    const end = endOfEvents(piece)
    if (end > 0) {
      if (this.#holdsTooMuch(piece.subarray(0, end))) return true
      if (this.#size > SHORT_EVENT) this.#meter.reset()
      this.#size = 0
      this.#pieces = []
    }
    return this.#holdsTooMuch(piece.subarray(end))
  }

  #holdsTooMuch(piece: Buffer): boolean {
    const wasShort = this.#size <= SHORT_EVENT
    this.#size += piece.length
    if (wasShort) this.#pieces.push(piece)
    if (this.#size <= SHORT_EVENT) return false
    const uncounted = wasShort ? this.#pieces : [piece]
    this.#pieces = []
    try {
      for (const each of uncounted) this.#meter.add(each.toString("latin1"))
      return false
    } catch {
      return true
    }
  }
}

/** Where the last event ends that ends in this piece: behind an empty line. Zero if none does. */
function endOfEvents(piece: Buffer): number {
  const ends = ["\n\n", "\r\n\r\n", "\r\r"].map((mark) => {
    const at = piece.lastIndexOf(mark)
    return at === -1 ? 0 : at + mark.length
  })
  return Math.max(...ends)
}

const tooLong = (provider: string): Error =>
  failure("provider_error", { provider, problem: "the reply exceeded the size limit and was stopped" })
