import type { Bus, Live } from "../agent/ports.ts"
import type { ConversationId } from "../protocol/ids.ts"

/** The bus of a single process: plain callbacks, nothing kept. */
export class InProcessBus implements Bus {
  readonly #watchers = new Map<ConversationId, Set<(live: Live) => void>>()
  readonly #wakers = new Set<(id: ConversationId) => void>()

  publish(id: ConversationId, live: Live): void {
    const watchers = this.#watchers.get(id)
    if (!watchers) return
    for (const watch of watchers) {
      try {
        watch(live)
      } catch (error) {
        queueMicrotask(() => process.emitWarning(error as Error)) // a watcher's defect is not the writer's
      }
    }
  }

  subscribe(id: ConversationId, listener: (live: Live) => void): () => void {
    const watchers = this.#watchers.get(id) ?? new Set()
    this.#watchers.set(id, watchers.add(listener))
    return () => {
      watchers.delete(listener)
      if (watchers.size === 0 && this.#watchers.get(id) === watchers) this.#watchers.delete(id)
    }
  }

  wake(id: ConversationId): void {
    for (const waken of this.#wakers) waken(id)
  }

  onWake(listener: (id: ConversationId) => void): () => void {
    this.#wakers.add(listener)
    return () => this.#wakers.delete(listener)
  }
}
