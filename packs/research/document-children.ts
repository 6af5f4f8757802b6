import { type Child, ChildDied, ChildProgram, type Log, type OtherProgram, siblingScript } from "../../core/pack.ts"

/** Memory in addition to that of an idle process, for a JavaScript heap of 512 MB. */
const MEGABYTES = 1150
/**
 * Idle processes kept ready for the next document, and for how long: starting one takes longer than reading most
 * documents.
 */
const IDLE = 2
const IDLE_MS = 60_000

interface Use {
  /** The process is ended after it. */
  readonly once: boolean
  readonly signal: AbortSignal
}

/** The processes that read documents. An interrupted one is ended and not reused. */
export class DocumentChildren {
  readonly #program: ChildProgram
  #idle: { readonly child: Child; readonly timer: NodeJS.Timeout }[] = []
  #closed = false

  constructor(
    heapMegabytes: number,
    { log, other }: { readonly log?: Log | undefined; readonly other?: OtherProgram | undefined },
  ) {
    const own = other ?? { script: siblingScript(import.meta.url, "document-child") }
    const flags = [`--max-old-space-size=${heapMegabytes}`]
    this.#program = new ChildProgram({ ...own, flags, megabytes: MEGABYTES, input: true, log })
  }

  /** Throws `ChildDied` if the process ended, and errors of the work. */
  async run<T>(use: Use, work: (child: Child) => Promise<T>): Promise<T> {
    const used = this.#take()
    if (used) {
      try {
        return await this.#on(used, use, work)
      } catch (error) {
        // The previous document, or something else, may have ended the reused process.
        if (!(error instanceof ChildDied) || this.#closed) throw error
      }
    }
    const child = await this.#program.start({ signal: use.signal })
    child.process.stdin?.on("error", () => {}) // it has ended, which rejects the pending answer
    return this.#on(child, use, work)
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const { timer } of this.#idle) clearTimeout(timer)
    await this.#program.close()
  }

  async #on<T>(child: Child, { once }: Use, work: (child: Child) => Promise<T>): Promise<T> {
    child.hold()
    let whole = false
    try {
      const answer = await work(child)
      whole = true
      return answer
    } finally {
      if (whole && !once && child.alive && !this.#closed && this.#idle.length < IDLE) this.#keep(child)
      else await child.end()
    }
  }

  #take(): Child | undefined {
    for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
      clearTimeout(idle.timer)
      if (idle.child.alive) return idle.child
    }
    return undefined
  }

  #keep(child: Child): void {
    child.release()
    const timer = setTimeout(() => {
      this.#idle = this.#idle.filter((each) => each.child !== child)
      void child.end()
    }, IDLE_MS).unref()
    this.#idle.push({ child, timer })
  }
}
