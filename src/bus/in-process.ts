import type { Bus, Live, OpenReply } from "../agent/ports.ts"
import type { ConversationId } from "../protocol/ids.ts"

/** The bus of a single process: plain callbacks. All it keeps is the text of replies that are open. */
export class InProcessBus implements Bus {
  readonly #open = new Map<ConversationId, { position: number; text: string }>()
  readonly #watchers = new Map<ConversationId, Set<(live: Live) => void>>()
  readonly #wakers = new Set<(id: ConversationId) => void>()

  publish(id: ConversationId, live: Live): void {
    this.#remember(id, live)
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

  async soFar(id: ConversationId): Promise<OpenReply | undefined> {
    return this.#open.get(id)
  }

  wake(id: ConversationId): void {
    for (const waken of this.#wakers) waken(id)
  }

  onWake(listener: (id: ConversationId) => void): () => void {
    this.#wakers.add(listener)
    return () => this.#wakers.delete(listener)
  }

  #remember(id: ConversationId, live: Live): void {
    if (live.type !== "text_delta") {
      this.#open.delete(id)
      return
    }
    const open = this.#open.get(id)
    // A delta that starts at nothing is another attempt: what the last one had shown is gone with it.
    if (open?.position === live.position && live.offset > live.text.length) open.text += live.text
    else this.#open.set(id, { position: live.position, text: live.text })
  }
}
