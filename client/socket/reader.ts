import { type Cursor, isBefore, parseCursor } from "../../core/protocol/cursor.ts"
import type { UnknownFrame } from "../../core/protocol/frames.ts"
import type { ClientError } from "../client-error.ts"
import type { FrameConnection } from "../stream/follow.ts"
import type { StreamPosition } from "../stream/stream-position.ts"

/**
 * At most this many frames and characters wait for a reader that has stopped reading; then it is cut off, because a
 * socket cannot slow the server down.
 */
const MAX_FRAMES = 1000
const MAX_TEXT = 1024 * 1024

interface Reading {
  readonly place?: StreamPosition | undefined
  readonly signal?: AbortSignal | undefined
  onProgress(): void
  /** Whether frames may still belong to another reader's attachment. */
  joins(): boolean
  /** Called when it ends. */
  left(): void
}

/** The frames of a socket for one iterator. If too many wait, it ends there, and the stream continues from that position. */
export class Reader implements FrameConnection {
  readonly frames: AsyncGenerator<UnknownFrame, void, undefined>
  readonly onProgress: () => void
  readonly #reading: Reading
  readonly #waiting: { readonly frame: UnknownFrame; readonly length: number }[] = []
  #text = 0
  #begun = false
  #over = false
  #error: ClientError | undefined
  #wake: (() => void) | undefined
  /** The cursor of the last received frame. */
  #at: Cursor

  constructor(reading: Reading) {
    this.#reading = reading
    this.#at = parseCursor(reading.place?.cursor ?? "0") ?? { position: 0, offset: 0 }
    this.onProgress = reading.onProgress
    this.frames = this.#read()
  }

  get at(): Cursor {
    return this.#at
  }

  hear(frame: UnknownFrame, length: number): void {
    if (this.#over) return
    const cursor = parseCursor(frame.id)
    const isNews = cursor !== undefined && isBefore(this.#at, cursor)
    if (!this.#begun) {
      const joins = this.#reading.joins()
      if (joins && !this.#fits(frame)) return
      this.#begun = isNews || !joins
    }
    if (isNews) this.#at = cursor
    this.#waiting.push({ frame, length })
    this.#text += length
    if (this.#waiting.length >= MAX_FRAMES || this.#text >= MAX_TEXT) this.end()
    this.#wake?.()
  }

  /** Ends the stream, with the error if any. */
  end(error?: ClientError): void {
    if (this.#over) return
    this.#over = true
    this.#error = error
    this.#reading.left()
    this.#wake?.()
  }

  close(): void {
    this.end()
    this.#waiting.length = 0
  }

  async *#read(): AsyncGenerator<UnknownFrame, void, undefined> {
    for (;;) {
      this.#reading.signal?.throwIfAborted()
      const next = this.#waiting.shift()
      if (next) {
        this.#text -= next.length
        yield next.frame
        continue
      }
      if (this.#error) throw this.#error
      if (this.#over) return
      await this.#news()
    }
  }

  #news(): Promise<void> {
    const { signal } = this.#reading
    return new Promise((resolve) => {
      const wake = () => {
        this.#wake = undefined
        signal?.removeEventListener("abort", wake)
        resolve()
      }
      this.#wake = wake
      signal?.addEventListener("abort", wake, { once: true })
    })
  }

  /** A feed starts with a snapshot. */
  #fits(frame: UnknownFrame): boolean {
    const { place } = this.#reading
    return place ? place.fits(frame) : frame.type === "snapshot"
  }
}
