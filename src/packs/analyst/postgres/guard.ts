import { once } from "node:events"
import type { Worker } from "node:worker_threads"
import { Semaphore } from "../../../agent/concurrency/semaphore.ts"
import type { Log } from "../../../agent/ports.ts"
import { besideModule } from "../../../children/beside-module.ts"
import { startThread } from "../../../children/thread.ts"
import { MAX_SQL } from "../../../protocol/databases/connections.ts"
import { isStorable } from "../../../protocol/text/text.ts"
import type { GuardJob, Verdict } from "./postgres-guard-thread.ts"
import type { PostgresPlan } from "./plan.ts"

/** The grammar takes milliseconds for what people write; to start it takes longer where much is going on. */
const PATIENCE_MS = 10_000

const UNREADABLE = "it could not be looked through"

/** PostgreSQL's own grammar, in a thread that can be thrown away. */
export class PostgresGuard {
  readonly #lane = new Semaphore(1)
  readonly #log: Log | undefined
  #worker: Worker | undefined

  constructor(log?: Log) {
    this.#log = log
  }

  /** What is wrong with a text as one statement that only reads; undefined where nothing is. */
  async problemOf(sql: string): Promise<string | undefined> {
    return (await this.#judge({ sql, change: false })).problem
  }

  /** How a text as one statement that changes rows is run, or what is wrong with it. */
  async planOf(sql: string): Promise<PostgresPlan | string> {
    const { problem, plan } = await this.#judge({ sql, change: true })
    return plan ?? problem ?? UNREADABLE
  }

  async #judge(question: GuardJob): Promise<Verdict> {
    const { sql } = question
    const refuse = (problem: string): Verdict => ({ problem, broken: false })
    if (sql.length > MAX_SQL) return refuse(`it is longer than ${MAX_SQL} characters`)
    // The grammar would end at a NUL and call what comes before it the whole.
    if (!isStorable(sql)) return refuse("it holds a NUL or half of a surrogate pair")
    if (sql.trim() === "") return refuse("there is no statement in it")
    const verdict = await this.#lane.run(() => this.#ask(question))
    return verdict.broken ? refuse(verdict.problem ?? UNREADABLE) : verdict
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  async #ask(question: GuardJob): Promise<Verdict> {
    const worker = (this.#worker ??= this.#start())
    worker.ref()
    try {
      const answer = once(worker, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })
      worker.postMessage(question)
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
    return startThread(besideModule(import.meta.url, "postgres-guard-thread"), { env: {}, log: this.#log })
  }
}
