import { once } from "node:events"
import { Worker } from "node:worker_threads"
import { Lanes } from "../../agent/lanes.ts"
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
  #started: Promise<Worker> | undefined
  #idle: NodeJS.Timeout | undefined

  /** Begins to load what is needed, for whoever knows that a chart will come. */
  warm(): void {
    void this.#thread().catch(() => {})
  }

  async check(question: ChartQuestion): Promise<ChartVerdict> {
    // Far more than may be in a specification: not even the thread is given it.
    if (question.text.length > 8 * chartLimits.bytes) return { problem: "it is far too long" }
    return this.#lane.run(() => this.#ask(question))
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const worker = await this.#started?.catch(() => undefined)
    this.#started = undefined
    await worker?.terminate()
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
      this.#started = undefined
      await worker.terminate()
      return { problem: "it took too long to look through; make it simpler" }
    } finally {
      clearTimeout(this.#idle)
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref()
    }
  }

  #thread(): Promise<Worker> {
    this.#started ??= start().catch((error: unknown) => {
      this.#started = undefined
      throw error
    })
    return this.#started
  }
}

async function start(): Promise<Worker> {
  // Beside this file, in the checkout and in a bundle alike, with the same ending.
  const ending = import.meta.url.slice(import.meta.url.lastIndexOf("."))
  const worker = new Worker(new URL(`./chart-check-thread${ending}`, import.meta.url), {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: 768 },
  })
  worker.on("error", () => {}) // whoever waits for an answer is told by `once`
  try {
    await once(worker, "message", { signal: AbortSignal.timeout(START_MS) })
  } catch (error) {
    await worker.terminate()
    throw error
  }
  worker.unref()
  return worker
}
