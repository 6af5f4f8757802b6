/** A seeded random generator: the same numbers for the same seed on every machine (mulberry32). */
export function chance(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Events by time, with a clock that jumps from one event to the next. */
export class Timeline {
  now = 0
  readonly #heap: { at: number; order: number; happens: () => void }[] = []
  #order = 0

  after(ms: number, happens: () => void): void {
    const heap = this.#heap
    heap.push({ at: this.now + ms, order: this.#order++, happens })
    for (let i = heap.length - 1; i > 0;) {
      const parent = (i - 1) >> 1
      if (!this.#isBefore(i, parent)) break
      this.#swap(i, parent)
      i = parent
    }
  }

  /** Runs all events in order. An event may add others. */
  run(): void {
    for (let next = this.#take(); next; next = this.#take()) {
      this.now = next.at
      next.happens()
    }
  }

  #take() {
    const heap = this.#heap
    const [first] = heap
    const last = heap.pop()
    if (!first || !last || heap.length === 0) return first
    heap[0] = last
    for (let i = 0; ;) {
      let least = i
      for (const child of [2 * i + 1, 2 * i + 2]) if (child < heap.length && this.#isBefore(child, least)) least = child
      if (least === i) return first
      this.#swap(i, least)
      i = least
    }
  }

  #isBefore(i: number, j: number): boolean {
    const [a, b] = [this.#heap[i]!, this.#heap[j]!]
    return a.at < b.at || (a.at === b.at && a.order < b.order)
  }

  #swap(i: number, j: number): void {
    const kept = this.#heap[i]!
    this.#heap[i] = this.#heap[j]!
    this.#heap[j] = kept
  }
}

/** A queue with servers: cores, a thread, the connections of a pool. */
export class Station {
  readonly #timeline: Timeline
  readonly #waiting: (() => void)[] = []
  readonly servers: number
  #free: number
  #taken = 0
  /** The total time in milliseconds that its servers were busy. */
  busyMs = 0

  constructor(timeline: Timeline, servers: number) {
    this.#timeline = timeline
    this.servers = servers
    this.#free = servers
  }

  take(then: () => void): void {
    if (this.#free > 0) {
      this.#free--
      return then()
    }
    this.#waiting.push(then)
  }

  give(): void {
    const next = this.#waiting[this.#taken]
    if (!next) return void this.#free++
    // Counts the removed items instead of moving the rest, which would cost more than the simulation.
    if (++this.#taken > 1024) (this.#waiting.splice(0, this.#taken), (this.#taken = 0))
    next()
  }

  /** Occupies a server for this time. */
  work(ms: number, then: () => void): void {
    this.take(() => {
      this.busyMs += ms
      this.#timeline.after(ms, () => {
        this.give()
        then()
      })
    })
  }
}

/** A log on a disk: commits that arrive during a flush wait for the next one, which they share. */
export class SharedFlush {
  readonly #timeline: Timeline
  readonly #ms: number
  #waiting: (() => void)[] = []
  #isBusy = false

  constructor(timeline: Timeline, ms: number) {
    this.#timeline = timeline
    this.#ms = ms
  }

  wait(then: () => void): void {
    this.#waiting.push(then)
    if (!this.#isBusy) this.#flush()
  }

  #flush(): void {
    const served = this.#waiting
    this.#waiting = []
    this.#isBusy = served.length > 0
    if (!this.#isBusy) return
    this.#timeline.after(this.#ms, () => {
      for (const then of served) then()
      this.#flush()
    })
  }
}
