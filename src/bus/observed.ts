import type { Bus, Live } from "../agent/ports.ts"
import type { ConversationId } from "../protocol/ids.ts"

/** The same bus, with somebody who hears all that is published, of whichever conversation. */
export function observed(bus: Bus, hear: (id: ConversationId, live: Live) => void): Bus {
  return {
    publish(id, live) {
      bus.publish(id, live)
      try {
        hear(id, live)
      } catch (error) {
        queueMicrotask(() => process.emitWarning(error as Error)) // a listener's defect is not the writer's
      }
    },
    subscribe: (id, listener) => bus.subscribe(id, listener),
    subscribeUser: (user, listener) => bus.subscribeUser(user, listener),
    publishNews: (user, kind) => bus.publishNews(user, kind),
    spreadNews: (user, kind) => bus.spreadNews(user, kind),
    subscribeNews: (user, listener) => bus.subscribeNews(user, listener),
    watched: () => bus.watched(),
    soFar: (id) => bus.soFar(id),
    wake: (id) => bus.wake(id),
    onWake: (listener) => bus.onWake(listener),
    spreadRevoked: () => bus.spreadRevoked(),
    onRevoked: (listener) => bus.onRevoked(listener),
    hearsOthers: () => bus.hearsOthers(),
    onDoubt: (listener) => bus.onDoubt(listener),
  }
}
