/** The part of a clock that it needs. */
interface Clock {
  now(): number
  alarm(ms: number, ring: () => void, background?: "background"): () => void
}

export interface IndexCacheOptions {
  readonly clock: Clock
  readonly idleMs?: number
  readonly mostBytes?: number
}

interface Kept<Index> {
  readonly index: Index
  usedAt: number
}

const IDLE_MS = 10 * 60_000
const MAX_BYTES = 256 * 1024 * 1024

/**
 * Caches an index per owner, created on demand. Unused ones are dropped after a while, and if all are too large
 * together, the least recently used, because they can be read again.
 */
export class IndexCache<Index extends { readonly bytes: number }> {
  readonly #kept = new Map<string, Kept<Index>>()
  readonly #options: IndexCacheOptions
  #cancel: (() => void) | undefined

  constructor(options: IndexCacheOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#kept.size
  }

  get owners(): string[] {
    return [...this.#kept.keys()]
  }

  of(owner: string, create: () => Index): Index {
    const index = this.#kept.get(owner)?.index ?? create()
    // Deleted and set again, so that the map is in order of use.
    this.#kept.delete(owner)
    this.#kept.set(owner, { index, usedAt: this.#options.clock.now() })
    this.#cancel ??= this.#watch()
    return index
  }

  drop(owner: string): void {
    this.#kept.delete(owner)
  }

  /** Call it when an index has grown. The one used last stays, however large, because it is in use. */
  trim(): void {
    const { mostBytes = MAX_BYTES } = this.#options
    let bytes = 0
    for (const { index } of this.#kept.values()) bytes += index.bytes
    for (const [owner, { index }] of this.#kept) {
      if (bytes <= mostBytes || this.#kept.size === 1) return
      bytes -= index.bytes
      this.#kept.delete(owner)
    }
  }

  #watch(): () => void {
    const { clock, idleMs = IDLE_MS } = this.#options
    return clock.alarm(
      idleMs,
      () => {
        for (const [owner, { usedAt }] of this.#kept) if (clock.now() - usedAt >= idleMs) this.#kept.delete(owner)
        this.#cancel = this.#kept.size > 0 ? this.#watch() : undefined
      },
      "background",
    )
  }
}
