type Ask = (url: string, init: RequestInit) => Promise<Response>

/**
 * Fetches as a program does, but the connection breaks once, after a number of bytes counted over all answers. The server sees
 * an ordinary disconnect.
 */
export class CuttingFetch {
  readonly #ask: Ask
  readonly #how: "error" | "end"
  #left: number
  readonly #heard: Uint8Array[] = []
  isCut = false

  constructor(ask: Ask, bytes: number, how: "error" | "end") {
    this.#ask = ask
    this.#left = bytes
    this.#how = how
  }

  /** All bytes received before the cut. */
  get heard(): Uint8Array {
    return Buffer.concat(this.#heard)
  }

  readonly fetch: Ask = async (url, init) => {
    const response = await this.#ask(url, init)
    const reader = response.body?.getReader()
    if (!reader || this.isCut) return new Response(passedOn(reader), response)
    const body = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          // Only after all data before it was read: data queued in a stream that breaks is lost.
          if (this.isCut)
            return this.#how === "end" ? controller.close() : controller.error(new TypeError("network error"))
          const { value, done } = await reader.read()
          if (done) return controller.close()
          const passed = value.subarray(0, this.#left)
          this.#left -= passed.length
          this.#heard.push(passed)
          controller.enqueue(passed)
          if (this.#left > 0) return
          this.isCut = true
          await reader.cancel()
        },
      },
      { highWaterMark: 0 },
    )
    return new Response(body, response)
  }
}

function passedOn(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): ReadableStream<Uint8Array> | null {
  if (!reader) return null
  return new ReadableStream({
    pull: async (controller) => {
      const { value, done } = await reader.read()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
}
