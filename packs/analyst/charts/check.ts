import { type Child, ChildProgram, type Log, Semaphore, siblingScript } from "../../../core/pack.ts"
import type { ChartQuestion, ChartVerdict } from "./chart-check-child.ts"
import { chartLimits } from "./limits.ts"

/** It is there in a third of a second on a machine that has time for it. */
const START_MS = 60_000
/** A chart is looked through in milliseconds. */
const PATIENCE_MS = 5_000
/** So many of a process's first charts compile what the later ones find: a tenth of a second each, a second at most. */
const [FIRST, FIRST_PATIENCE_MS] = [3, 30_000]
/** The compiled schema takes tens of megabytes, so an idle process is ended. */
const IDLE_MS = 10 * 60_000
/** The memory for one chart. */
const MEGABYTES = 512

/**
 * Looks through charts in a process of its own, which is started for the first and thrown away when it hangs. No thread: one
 * that takes more memory than it may can end the whole process with it.
 */
export class ChartCheck {
  readonly #lane = new Semaphore(1)
  readonly #log: Log | undefined
  #program: ChildProgram | undefined
  #ready: Promise<Child> | undefined
  #idle: NodeJS.Timeout | undefined
  /** Answers of the current process. */
  #answers = 0

  constructor(log?: Log) {
    this.#log = log
  }

  /** Starts the process early, when a chart is expected. */
  warm(): void {
    void this.#child().catch(() => {})
  }

  async check(question: ChartQuestion): Promise<ChartVerdict> {
    // Far more than may be in a specification: not even the process is given it.
    if (question.text.length > 8 * chartLimits.bytes) return { problem: "it is far too long" }
    return this.#lane.run(() => this.#ask(question))
  }

  /** Also while the process starts: its pending callers receive an error. */
  async close(): Promise<void> {
    clearTimeout(this.#idle)
    const program = this.#program
    this.#program = undefined
    this.#ready = undefined
    await program?.close()
  }

  async #ask(question: ChartQuestion): Promise<ChartVerdict> {
    clearTimeout(this.#idle)
    const child = await this.#child()
    child.hold()
    try {
      child.send(question)
      const patience = this.#answers < FIRST ? FIRST_PATIENCE_MS : PATIENCE_MS
      const verdict = (await child.hear(AbortSignal.timeout(patience))) as ChartVerdict
      this.#answers++
      child.release()
      return verdict
    } catch {
      this.#ready = undefined
      await child.end()
      return { problem: "it took too long to look through; make it simpler" }
    } finally {
      this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref()
    }
  }

  /** Replaces a process that exited while it was idle. */
  async #child(): Promise<Child> {
    const child = await (this.#ready ??= this.#start())
    return child.alive ? child : (this.#ready = this.#start())
  }

  #start(): Promise<Child> {
    const script = siblingScript(import.meta.url, "chart-check-child")
    const flags = ["--max-old-space-size=768"]
    const program = (this.#program ??= new ChildProgram({ script, flags, megabytes: MEGABYTES, log: this.#log }))
    this.#answers = 0
    const starting = program.start({ signal: AbortSignal.timeout(START_MS) })
    starting.then(
      (child) => child.release(),
      () => this.#ready === starting && (this.#ready = undefined), // the next one tries again
    )
    return starting
  }
}
