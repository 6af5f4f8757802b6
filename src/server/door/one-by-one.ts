import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

/** More than any client has under way over one connection before it reads what it is answered. */
const MAX_WAITING = 256

/**
 * The requests of one connection, each begun when the answer to the one before has gone out. Answers go out in that order
 * anyhow: whoever sends a thousand requests without reading would have all of them made in one turn of everybody's, to wait
 * in memory.
 */
export class OneByOne {
  readonly #lines = new WeakMap<Socket, (() => void)[]>()

  /** Undefined for a request that may begin at once. Of those whose connection closes meanwhile nothing is heard again. */
  enter({ socket }: IncomingMessage, answer: ServerResponse): Promise<void> | undefined {
    const waiting = this.#lines.get(socket)
    if (!waiting) {
      this.#lines.set(socket, [])
      this.#watch(socket, answer)
      return undefined
    }
    // There is no telling them: what stands before it in the order has not been answered.
    if (waiting.length >= MAX_WAITING) socket.destroy()
    const { promise, resolve } = Promise.withResolvers<void>()
    waiting.push(() => {
      this.#watch(socket, answer)
      resolve()
    })
    return promise
  }

  #watch(socket: Socket, answer: ServerResponse): void {
    answer.on("close", () => {
      const next = socket.destroyed ? undefined : this.#lines.get(socket)?.shift()
      if (next) next()
      else this.#lines.delete(socket)
    })
  }
}
