import type { Log } from "../../agent/ports.ts"
import { besideModule } from "../../children/beside-module.ts"
import { type Child, ChildDied } from "../../children/child.ts"
import { ChildProgram } from "../../children/child-program.ts"
import { failure } from "../../protocol/errors.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteWord } from "./sqlite-change-job.ts"

/** How a piece of work talks to the process that does it. */
export interface ChangeChild {
  send(message: SqliteChangeJob | SqliteWord): void
  /** What it says next; throws where it has ended instead, or what the signal was aborted with. */
  hear(signal: AbortSignal): Promise<SqliteChangeOutcome>
}

/** So many wait for the next change. */
const IDLE = 1

/** The processes in which SQLite files are changed. One that was broken off in the middle is ended, never used again. */
export class SqliteChangeChildren {
  #idle: Child[] = []
  readonly #program: ChildProgram

  constructor(log?: Log) {
    const script = besideModule(import.meta.url, "sqlite-change-child")
    this.#program = new ChildProgram({ script, flags: ["--max-old-space-size=256"], megabytes: 437, log })
  }

  async run<T>(signal: AbortSignal, work: (child: ChangeChild) => Promise<T>): Promise<T> {
    const child = await this.#take(signal)
    child.hold()
    let asked = 0
    try {
      return await work({
        send(message) {
          asked++
          child.send(message)
        },
        async hear(until) {
          const outcome = (await child.hear(until).catch(toFailure)) as SqliteChangeOutcome
          asked = outcome.type === "changed" ? asked : 0
          return outcome
        },
      })
    } finally {
      // What it was asked for it has ended, so nothing of it is left.
      if (asked === 0 && child.alive && this.#idle.length < IDLE) this.#keep(child)
      else await child.end()
    }
  }

  close(): Promise<void> {
    return this.#program.close()
  }

  async #take(signal: AbortSignal): Promise<Child> {
    const kept = this.#idle.pop()
    return kept?.alive ? kept : this.#program.start([], signal).catch(toFailure)
  }

  #keep(child: Child): void {
    child.release()
    this.#idle.push(child)
    void child.ended.then(() => (this.#idle = this.#idle.filter((each) => each !== child)))
  }
}

function toFailure(error: unknown): never {
  if (!(error instanceof ChildDied)) throw error
  throw failure("connection_failed", { problem: "the process that changes the file broke down" })
}
