import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { Lanes } from "../../agent/lanes.ts"
import { MAX_SQL } from "../../protocol/connections.ts"
import { isStorable } from "../../protocol/text.ts"
import type { Verdict } from "./postgres-guard-thread.ts"

/** The grammar takes milliseconds for what people write; to start it takes longer where much is going on. */
const PATIENCE_MS = 10_000

/** PostgreSQL's own grammar, in a thread that can be thrown away. */
export class PostgresGuard {
  readonly #lane = new Lanes(1)
  #worker: Worker | undefined

  /** What is wrong with a text as one statement that only reads; undefined where nothing is. */
  async problemOf(sql: string): Promise<string | undefined> {
    if (sql.length > MAX_SQL) return `it is longer than ${MAX_SQL} characters`
    // The grammar would end at a NUL and call what comes before it the whole.
    if (!isStorable(sql)) return "it holds a NUL or half of a surrogate pair"
    if (sql.trim() === "") return "there is no statement in it"
    const { problem, broken } = await this.#lane.run(() => this.#ask(sql))
    return broken ? (problem ?? "it could not be looked through") : problem
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #ask(sql: string): Promise<Verdict> {
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    try {
      const answer = once(worker, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })
      worker.postMessage(sql)
      const [verdict] = (await answer) as [Verdict]
      if (verdict.broken) await this.#drop(worker)
      else worker.unref()
      return verdict
    } catch {
      await this.#drop(worker)
      return { problem: "it took too long to look through", broken: true }
    }
  }

  async #drop(worker: Worker): Promise<void> {
    this.#worker = undefined
    await worker.terminate()
  }

  #start(): Worker {
    // Beside this file, in the checkout and in a bundle alike, with the same ending.
    const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
    const worker = new Worker(new URL(`./postgres-guard-thread${ending}`, import.meta.url), { env: {} })
    worker.on("error", () => {}) // whoever waits for an answer is told by `once`
    return worker
  }
}
