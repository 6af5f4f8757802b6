import { type Child, ChildProgram, type Log, Semaphore, siblingScript } from "../../../core/pack.ts"
import type { ChartQuestion, ChartVerdict } from "./chart-check-child.ts"
import { chartLimits } from "./limits.ts"

/** The process starts in a third of a second on an idle machine. */
const START_MS = 60_000
/** A check takes milliseconds. */
const PATIENCE_MS = 5_000
/** The first charts of a process take up to a second, because V8 compiles the code of the check. */
const [FIRST, FIRST_PATIENCE_MS] = [3, 30_000]
/** The compiled schema takes tens of megabytes, so an idle process is ended. */
const IDLE_MS = 10 * 60_000
/** The memory for one chart. */
const MEGABYTES = 512

/**
 * Checks charts in a separate process, which is started for the first chart and replaced if it hangs. Not in a thread,
 * because a thread that exceeds its memory can end the whole server.
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

  /** Starts the process in advance, when a chart is expected. */
  warm(): void {
    void this.#child().catch(() => {})
  }

  async check(question: ChartQuestion): Promise<ChartVerdict> {
    // Far above the limit of a specification, so it is not even sent to the process.
    if (question.text.length > 8 * chartLimits.bytes) return { problem: "it is far too long" }
    return this.#lane.run(() => this.#ask(question))
  }

  /** Works also while the process starts: waiting callers receive an error. */
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
      () => this.#ready === starting && (this.#ready = undefined), // the next call starts it again
    )
    return starting
  }
}
