import { failure } from "../../../protocol/errors.ts"
import { watchOf } from "./silence-watch.ts"
import { NotAStream, StreamStart } from "./not-a-stream.ts"

/** One line of a provider's stream; the longest we have seen, a whole answer with its encrypted thinking, has 0.2 MB. */
const MAX_LINE_BYTES = 16 * 1024 * 1024
const MAX_REPLY_BYTES = 128 * 1024 * 1024
const NEWLINE = 10
/** As long as the mark of the end with some room for blank lines behind it. */
const TAIL_BYTES = 32

type Fetch = typeof globalThis.fetch

/**
 * The `fetch` of every provider adapter. Each byte counts as a sign of life, keep-alive comments included, and a reply
 * without end is broken off before it fills the memory.
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
      tap(response.body, (bytes) => {
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

/** Shows every chunk that is read from the stream, and undefined at its end, without the cost of one more stream around it. */
function tap(body: ReadableStream<Uint8Array>, onChunk: (bytes: Uint8Array | undefined) => void): void {
  const getReader = body.getReader.bind(body) as () => ReadableStreamDefaultReader<Uint8Array>
  const getTappedReader = () => {
    const reader = getReader()
    const read = reader.read.bind(reader)
    reader.read = async () => {
      const result = await read()
      if (result.value) onChunk(result.value)
      if (result.done) onChunk(undefined)
      return result
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
