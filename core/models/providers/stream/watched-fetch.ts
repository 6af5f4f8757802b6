import { LoopShare } from "../../../shared/concurrency/loop-share.ts"
import { failure } from "../../../protocol/errors.ts"
import { type JsonLimits, jsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { joinDeltas } from "./join-deltas.ts"
import { type SilenceWatch, watchOf } from "./silence-watch.ts"
import { NotAStream, StreamStart } from "./stream-start.ts"

/**
 * Events up to this size have few enough values to be parsed directly. The largest seen, an answer with its encrypted
 * reasoning, has 0.2 MB.
 */
const SHORT_EVENT = 64 * 1024
const MAX_REPLY_BYTES = 128 * 1024 * 1024
/** A rejection has a few hundred bytes. Adapters read and parse all of it in one go, and so do we. */
const MAX_REFUSAL_BYTES = 256 * 1024
/** The end mark with some blank lines. */
const TAIL_BYTES = 32

/** Bytes that adapters get at a time: a hundred chat-completion events, which take them 3 ms. */
const PORTION_BYTES = 16 * 1024

type Fetch = typeof globalThis.fetch

interface AnswerForm {
  /** In frames with lengths, which `framedFetch` counts, not an event stream. */
  readonly inFrames?: boolean | undefined
  /** The limits of one event, or of a whole response that is not a stream. */
  readonly limits?: JsonLimits
}

/** All replies of all providers share one event loop. */
const reading = new LoopShare(PORTION_BYTES)

/**
 * The `fetch` of every adapter. Each byte, also of keep-alive comments, counts as activity; a reply without end is
 * stopped before it fills the memory, and many fast replies leave time for other work.
 */
export function watchedFetch(fetch: Fetch = globalThis.fetch, form: AnswerForm = {}): Fetch {
  return async (input, init) => {
    // A redirect to another host would send the key in `x-api-key` along.
    const response = await fetch(input, { ...init, redirect: "error" })
    const watch = watchOf(init?.signal)
    watch?.onActivity()
    if (response.body) {
      const limit = new ReplyLimit(form)
      const start = response.ok && watch?.wantsStream ? new StreamStart() : undefined
      const most = response.ok ? Number.POSITIVE_INFINITY : MAX_REFUSAL_BYTES
      tap(response, { watch, most }, (bytes) => {
        if (!watch) return
        if (bytes === undefined) {
          if (start?.isDocument) watch.stop(new NotAStream(start.text))
          return
        }
        watch.onActivity()
        watch.tail = (watch.tail + Buffer.from(bytes.subarray(-TAIL_BYTES)).toString("latin1")).slice(-TAIL_BYTES)
        start?.add(bytes)
        if (start?.isFull) watch.stop(new NotAStream(start.text))
        if (limit.isPassedBy(bytes)) watch.stop(tooLong(watch.provider))
      })
    }
    return response
  }
}

interface TapOptions {
  readonly watch: SilenceWatch | undefined
  /** Passes on this many bytes, then ends the stream. */
  readonly most: number
}

/**
 * Passes on a stream in portions as the event loop permits, and reports each chunk, and undefined at the end; without
 * the cost of another stream. Unread bytes stay in the provider's socket.
 */
function tap(
  { body, headers }: Response,
  { watch, most }: TapOptions,
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
        watch?.passedOn()
      }
      return { done: false, value }
    }
    return reader
  }
  body.getReader = getTappedReader as typeof body.getReader
}

/** Counts the values of a reply and of each event, because adapters parse an event in one go. */
class ReplyLimit {
  readonly #meter: JsonMeter
  readonly #inFrames: boolean
  #total = 0
  /** The chunks of a short event, which is counted only if it becomes long. */
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
    // Everything that ends in this chunk is counted as one event, which is imprecise by the few values of a chunk.
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

/** The end of the last event that ends in this chunk, after a blank line; 0 if none does. */
function endOfEvents(piece: Buffer): number {
  const ends = ["\n\n", "\r\n\r\n", "\r\r"].map((mark) => {
    const at = piece.lastIndexOf(mark)
    return at === -1 ? 0 : at + mark.length
  })
  return Math.max(...ends)
}

const tooLong = (provider: string): Error =>
  failure("provider_error", { provider, problem: "the reply exceeded the size limit and was stopped" })
