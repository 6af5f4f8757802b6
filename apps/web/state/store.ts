import { useSyncExternalStore } from "react"

/** How long a change may wait where no picture is drawn, as in a tab behind others. */
const HIDDEN_MS = 200

/**
 * A value that the page shows. Changes come faster than pictures are drawn, two thousand pieces of a reply for example, so
 * whoever shows it is told once for each picture.
 */
export class Store<Value> {
  #value: Value
  #shown: Value
  #scheduled = false
  readonly #listeners = new Set<() => void>()

  constructor(value: Value) {
    this.#value = value
    this.#shown = value
  }

  /** As it is now. */
  get value(): Value {
    return this.#value
  }

  set(value: Value): void {
    if (value === this.#value) return
    this.#value = value
    if (this.#scheduled) return
    this.#scheduled = true
    const timer = setTimeout(() => this.#tell(frame, timer), HIDDEN_MS)
    const frame = requestAnimationFrame(() => this.#tell(frame, timer))
  }

  change(change: Partial<Value>): void {
    this.set({ ...this.#value, ...change })
  }

  #tell(frame: number, timer: ReturnType<typeof setTimeout>): void {
    cancelAnimationFrame(frame)
    clearTimeout(timer)
    this.#scheduled = false
    this.#shown = this.#value
    for (const listener of this.#listeners) listener()
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** As it was when the last picture was drawn. */
  snapshot = (): Value => (this.#listeners.size === 0 ? (this.#shown = this.#value) : this.#shown)
}

export const useStore = <Value>(store: Store<Value>): Value =>
  useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
