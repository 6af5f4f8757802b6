import { jsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"

type Fetch = typeof globalThis.fetch

/** A frame says how long it is with its first four bytes, and holds at least its own lengths and sums. */
const PRELUDE = 4
const SHORTEST = 16
/** What Amazon allows one to hold. */
const LONGEST = 24 * 1024 * 1024
/** Frames up to this size hold few enough values to be parsed as they are. */
const SHORT = 64 * 1024
/** As much is read of what is no frame, for whoever tells what came in its place. */
const MAX_ODD = 64 * 1024

/**
 * A `fetch` whose answers are frames of Amazon's event streams, each handed on as a whole. The adapter would join all that
 * came anew with every piece, and take a frame that was cut for a fault of its own: here it is left out, so that the reply
 * lacks its end like any other that was cut.
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
  // Read by hand: whoever watches this stream sees what goes through its reader.
  const reader = body.getReader()
  // Copied together as they come: a server may send a byte at a time, and each piece kept by itself takes hundreds of them.
  let held = Buffer.alloc(0)
  let size = 0
  let wanted = PRELUDE
  const next = async (): Promise<boolean> => {
    const { done, value } = await reader.read()
    if (done) return false
    const needed = size + value.length
    if (needed > held.length) {
      const roomier = Buffer.allocUnsafe(Math.max(needed, Math.min(held.length * 2, wanted)))
      held.copy(roomier, 0, 0, size)
      held = roomier
    }
    held.set(value, size)
    size = needed
    return true
  }
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      for (;;) {
        while (size < wanted) if (!(await next())) return controller.close()
        const bytes = held.subarray(0, size)
        const { end, missing } = measured(bytes)
        if (missing === undefined) {
          while (size < MAX_ODD && (await next()));
          await reader.cancel()
          return controller.close()
        }
        wanted = missing
        if (end === 0) continue
        // The adapter parses a frame in one go.
        if (end > SHORT) new JsonMeter(jsonLimits.streamEvent).add(bytes.toString("latin1", 0, end))
        held = Buffer.from(bytes.subarray(end))
        size -= end
        return controller.enqueue(bytes.subarray(0, end))
      }
    },
    cancel: (reason) => reader.cancel(reason),
  })
}

/** Where the last whole frame ends, and how many bytes there must be behind it to go on; without that it is no frame. */
function measured(bytes: Buffer): { readonly end: number; readonly missing?: number } {
  let end = 0
  for (;;) {
    if (bytes.length - end < PRELUDE) return { end, missing: PRELUDE }
    const length = bytes.readUInt32BE(end)
    if (length < SHORTEST || length > LONGEST) return end > 0 ? { end, missing: PRELUDE } : { end }
    if (bytes.length - end < length) return { end, missing: length }
    end += length
  }
}
