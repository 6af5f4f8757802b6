import type { Readable } from "node:stream"

const MAX_BYTES = 4096

/** The end of what somebody says, for the log: what a program says last tells why it died. */
export class Tail {
  #bytes = Buffer.alloc(0)

  constructor(stream: Readable | null | undefined) {
    stream?.on("data", (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk.subarray(-MAX_BYTES)]).subarray(-MAX_BYTES)
    })
    stream?.on("error", () => {}) // what came before is all there is
  }

  get text(): string {
    return this.#bytes.toString().trim()
  }
}
