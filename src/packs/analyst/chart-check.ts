import { once } from "node:events"
import type { Worker } from "node:worker_threads"
import { Lanes } from "../../agent/lanes.ts"
import type { Log } from "../../agent/ports.ts"
import { besideModule } from "../../children/beside-module.ts"
import { Thread } from "../../children/thread.ts"
import type { ChartQuestion, ChartVerdict } from "./chart-check-thread.ts"
import { chartLimits } from "./chart-limits.ts"

/** To compile the schema takes a second and a half on a machine that has time for it. */
const START_MS = 60_000
/** A chart is looked through in milliseconds. */
const PATIENCE_MS = 5_000
/** What is compiled holds tens of megabytes. */
const IDLE_MS = 10 * 60_000

/** Looks through charts in a thread of its own, which is started for the first and thrown away when it hangs. */
export class ChartCheck {
  readonly #lane = new Lanes(1)
  #worker: Worker | undefined
  #ready: Promise<void> | undefined
  #idle: NodeJS.Timeout | undefined
  readonly #log: Log | undefined

  constructor(log?: Log) {
    this.#log = log
  }

  /** Begins to load what is needed, for whoever knows that a chart will come. */
  warm(): void {
    void this.#thread().catch(() => {})
  }

  async check(question: ChartQuestion): Promise<ChartVerdict> {
    // Far more than may be in a specification: not even the thread is given it.
    if (question.text.length > 8 * chartLimits.bytes) return { problem: "it is far too long" }
    return this.#lane.run(() => this.#ask(question))
  }

  /** Also while it starts: whoever waits for it is told. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#drop(this.#worker)
  }

  async #ask(question: ChartQuestion): Promise<ChartVerdict> {
    clearTimeout(this.#idle)
    const worker = await this.#thread()
    worker.ref()
    try {
      const answer = once(worker, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })
      worker.postMessage(question)
      const [verdict] = (await answer) as [ChartVerdict]
      worker.unref()
      return verdict
    } catch {
      await this.#drop(worker)
      return { problem: "it took too long to look through; make it simpler" }
    } finally {
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref()
    }
  }

  async #thread(): Promise<Worker> {
    const worker = (this.#worker ??= this.#start())
    await (this.#ready ??= ready(worker))
    return worker
  }

  #start(): Worker {
    const worker = new Thread(besideModule(import.meta.url, "chart-check-thread"), {
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 768 },
      log: this.#log,
    })
    worker.once("exit", () => void this.#drop(worker)) // one that is gone is not asked again
    return worker
  }

  async #drop(worker: Worker | undefined): Promise<void> {
    if (worker === this.#worker) {
      this.#worker = undefined
      this.#ready = undefined
    }
    await worker?.terminate()
  }
}

/** Resolves when the schema is compiled. */
async function ready(worker: Worker): Promise<void> {
  const signal = AbortSignal.timeout(START_MS)
  const ended = once(worker, "exit", { signal }).then(() => Promise.reject(new Error("the checker of charts ended")))
  await Promise.race([once(worker, "message", { signal }), ended])
  ended.catch(() => {})
  worker.unref()
}
