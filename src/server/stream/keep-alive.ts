import type { Clock } from "../../agent/clock.ts"

/** Silence longer than this looks like a dead connection to whatever lies between us and the watcher. */
const PULSE_MS = 7000 // so that no two signs of life are more than 14 s apart
/** Streams beat in so many groups, one after the other: thousands at once would hold up everything else. */
const GROUPS = 28

const pulses = new WeakMap<Clock, KeepAlive>()

export function pulseOf(clock: Clock): KeepAlive {
  const known = pulses.get(clock)
  if (known) return known
  const pulse = new KeepAlive(clock)
  pulses.set(clock, pulse)
  return pulse
}

/** One alarm for all streams, however many: an idle one costs a place in a set. */
export class KeepAlive {
  readonly #clock: Clock
  readonly #groups = Array.from({ length: GROUPS }, () => new Set<() => void>())
  #next = 0
  #size = 0
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back every `PULSE_MS` until the returned function is called. */
  join(beat: () => void): () => void {
    // The group that has just had its turn: a whole round lies ahead.
    const group = this.#groups.at(this.#next - 1) as Set<() => void>
    group.add(beat)
    if (this.#size++ === 0) this.#wait()
    return () => {
      if (group.delete(beat) && --this.#size === 0) this.#stop?.()
    }
  }

  #wait(): void {
    this.#stop = this.#clock.alarm(PULSE_MS / GROUPS, () => this.#turn(), "background")
  }

  #turn(): void {
    const group = this.#groups[this.#next] as Set<() => void>
    this.#next = (this.#next + 1) % GROUPS
    this.#wait() // first, so that whoever leaves as the last during the beat stops it
    for (const beat of group) beat()
  }
}
