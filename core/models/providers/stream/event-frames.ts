import { jsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"

type Fetch = typeof globalThis.fetch

/** A frame starts with its length in four bytes; the minimum frame has lengths and checksums only. */
const PRELUDE = 4
const SHORTEST = 16
/** Amazon's maximum. */
const LONGEST = 24 * 1024 * 1024
/** Frames up to this size have few enough values to be parsed directly. */
const SHORT = 64 * 1024
/** How much of a response without frames is read, for error messages. */
const MAX_UNFRAMED = 64 * 1024

/**
 * A `fetch` that returns complete frames of Amazon's event streams. The adapter would concatenate all bytes with each
 * chunk, and report an incomplete frame as its own error; here an incomplete frame is dropped, so that the reply lacks
 * its end like any other that was cut.
 */
export function framedFetch(fetch: Fetch): Fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (!response.ok || !response.body) return response
    const { status, statusText, headers } = response
    return new Response(wholeFrames(response.body), { status, statusText, headers })
  }
}

function wholeFrames(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  // A manual reader, because `watchedFetch` observes the reader.
  const reader = body.getReader()
  // Copied into one buffer: a server may send single bytes, and separate chunks have a large overhead.
  let buffer = Buffer.alloc(0)
  let size = 0
  let wanted = PRELUDE
  const next = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    if (done) return false
    const needed = size + value.length
    if (needed > buffer.length) {
      const roomier = Buffer.allocUnsafe(Math.max(needed, Math.min(buffer.length * 2, wanted)))
      buffer.copy(roomier, 0, 0, size)
      buffer = roomier
    }
    buffer.set(value, size)
    size = needed
    return true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        while (size < wanted) if (!(await next())) return controller.close()
        const bytes = buffer.subarray(0, size)
        const { end, missing } = measure(bytes)
        if (missing === undefined) {
          while (size < MAX_UNFRAMED && (await next()));
          await reader.cancel()
          return controller.close()
        }
        wanted = missing
        if (end === 0) continue
        // The adapter parses a frame in one go.
        if (end > SHORT) new JsonMeter(jsonLimits.streamEvent).add(bytes.toString("latin1", 0, end))
        buffer = Buffer.from(bytes.subarray(end))
        size -= end
        return controller.enqueue(bytes.subarray(0, end))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** The end of the last complete frame, and the size that is needed to continue; undefined if this is not a frame. */
function measure(bytes: Buffer): { readonly end: number; readonly missing?: number } {
  let end = 0
  for (;;) {
    if (bytes.length - end < PRELUDE) return { end, missing: PRELUDE }
    const length = bytes.readUInt32BE(end)
    if (length < SHORTEST || length > LONGEST) return end > 0 ? { end, missing: PRELUDE } : { end }
    if (bytes.length - end < length) return { end, missing: length }
    end += length
  }
}
