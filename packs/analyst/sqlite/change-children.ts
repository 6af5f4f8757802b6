import { OPEN_FILES } from "./children.ts"
import { isDeepStrictEqual } from "node:util"
import {
  type Child,
  ChildDied,
  ChildProgram,
  failure,
  type Log,
  type OtherProgram,
  siblingScript,
} from "../../../core/pack.ts"
import type { SqliteChangeJob, SqliteChangeOutcome, SqliteWord } from "./change-job.ts"

/** The connection to a process during one change. */
export interface ChangeChild {
  send(message: SqliteChangeJob | SqliteWord): void
  /** Returns its next outcome. Throws if it ended, or the reason of the signal. */
  hear(signal: AbortSignal): Promise<SqliteChangeOutcome>
}

/** The number of idle processes for the next change. */
const IDLE = 1

/**
 * The folders that a process may read, which depend on the user. SQLite itself writes, outside of Node's permission
 * model.
 */
type Folders = SqliteChangeJob["folders"]

interface Idle {
  readonly folders: Folders
  readonly child: Child
}

/** The processes that change SQLite files. An interrupted one is ended and not reused. */
export class SqliteChangeChildren {
  #idle: Idle[] = []
  readonly #program: ChildProgram
  #closed = false

  constructor(log?: Log, other?: OtherProgram) {
    const own = other ?? { script: siblingScript(import.meta.url, "sqlite-change-child") }
    this.#program = new ChildProgram({ ...own, flags: ["--max-old-space-size=256"], megabytes: 437, log })
  }

  async run<T>(folders: Folders, signal: AbortSignal, work: (child: ChangeChild) => Promise<T>): Promise<T> {
    const child = await this.#take(folders, signal)
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
      // Reused only if all its jobs have ended.
      if (asked === 0 && child.alive && !this.#closed) this.#keep({ folders, child })
      else await child.end()
    }
  }

  close(): Promise<void> {
    this.#closed = true
    return this.#program.close()
  }

  async #take(folders: Folders, signal: AbortSignal): Promise<Child> {
    const reusable = this.#idle.find((idle) => isDeepStrictEqual(idle.folders, folders))
    this.#idle = this.#idle.filter((idle) => idle !== reusable)
    const files = { reads: [...folders, ...OPEN_FILES] }
    return reusable?.child.alive ? reusable.child : this.#program.start({ files, signal }).catch(toFailure)
  }

  /** Retains only the last used process, because a rehearsal is usually followed by its change. */
  #keep(idle: Idle): void {
    idle.child.release()
    this.#idle.push(idle)
    const [oldest] = this.#idle.length > IDLE ? this.#idle.splice(0, 1) : []
    void oldest?.child.end()
    void idle.child.ended.then(() => (this.#idle = this.#idle.filter((each) => each !== idle)))
  }
}

function toFailure(error: unknown): never {
  if (!(error instanceof ChildDied)) throw error
  throw failure("connection_failed", { problem: "the process that changes the file broke down" })
}
