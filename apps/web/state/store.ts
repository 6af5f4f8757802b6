import { useSyncExternalStore } from "react"

/** How long a change may wait if no frame is drawn, as in a hidden tab. */
const HIDDEN_MS = 200

/**
 * An observable value. Changes are faster than frames, for example thousands of pieces of a reply, so listeners are
 * called once per frame.
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

  /** The value of the last frame. */
  snapshot = (): Value => (this.#listeners.size === 0 ? (this.#shown = this.#value) : this.#shown)
}

export const useStore = <Value>(store: Store<Value>): Value =>
  useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
