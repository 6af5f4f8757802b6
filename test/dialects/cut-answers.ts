type Ask = (url: string, init?: RequestInit) => Promise<Response>

/** Fetches as a program does, but the connection breaks after a number of bytes of an answer. */
export class CutAnswers {
  readonly #ask: Ask
  /** The number of bytes of the next answers that get through. */
  after = Number.POSITIVE_INFINITY

  constructor(ask: Ask) {
    this.#ask = ask
  }

  readonly fetch = (async (url: string, init?: RequestInit) => {
    const response = await this.#ask(url, init)
    if (!response.body || this.after === Number.POSITIVE_INFINITY) return response
    return new Response(cutAfter(response.body, this.after), { status: response.status, headers: response.headers })
  }) as typeof fetch
}

function cutAfter(body: ReadableStream<Uint8Array>, bytes: number): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let left = bytes
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = left > 0 ? await reader.read() : {}
        if (done) return controller.close()
        if (value) controller.enqueue(value.subarray(0, left))
        left -= value?.length ?? 0
        if (left > 0) return
        await reader.cancel()
        controller.error(new TypeError("the connection broke"))
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** The number of evenly spaced cuts in an answer, in addition to those at the ends of its events. */
const CUTS = 32

/** Returns cut positions: every k-th byte, and inside and after the end of each event. */
export function cutsOf(text: string): number[] {
  const bytes = Buffer.from(text)
  // Odd, so that similar events are cut at different positions.
  const every = Math.floor(bytes.length / CUTS) | 1
  const cuts = new Set<number>()
  for (let at = 1; at < bytes.length; at += every) cuts.add(at)
  for (let at = bytes.indexOf("\n\n"); at >= 0; at = bytes.indexOf("\n\n", at + 1))
    for (const near of [at + 1, at + 2]) if (near < bytes.length) cuts.add(near)
  return [...cuts].sort((a, b) => a - b)
}
