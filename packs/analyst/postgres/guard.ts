import { isStorable, JobThread, type Log, MAX_SQL, siblingScript } from "../../../core/pack.ts"
import type { GuardJob, Verdict } from "./postgres-guard-thread.ts"
import type { PostgresPlan } from "./plan.ts"

/** Parsing takes milliseconds, but starting the thread takes longer on a busy machine. */
const PATIENCE_MS = 10_000

const UNREADABLE = "it could not be looked through"

/** Checks statements with PostgreSQL's own grammar, in a thread that is replaced if it fails. */
export class PostgresGuard {
  readonly #thread: JobThread<GuardJob, Verdict>

  constructor(log?: Log) {
    const script = siblingScript(import.meta.url, "postgres-guard-thread")
    this.#thread = new JobThread({ script, timeLimitMs: PATIENCE_MS, log })
  }

  /** Returns the reason why a text is not a single statement that only reads, or how the statement must be run. */
  checkQuery(sql: string): Promise<Verdict> {
    return this.#check({ sql, change: false })
  }

  /** The plan of a single statement that changes rows, or the reason why it is refused. */
  async checkChange(sql: string): Promise<PostgresPlan | string> {
    const { problem, plan } = await this.#check({ sql, change: true })
    return plan ?? problem ?? UNREADABLE
  }

  async #check(question: GuardJob): Promise<Verdict> {
    const { sql } = question
    const refuse = (problem: string): Verdict => ({ problem, broken: false })
    if (sql.length > MAX_SQL) return refuse(`it is longer than ${MAX_SQL} characters`)
    // The parser would stop at a NUL and treat the text before it as complete.
    if (!isStorable(sql)) return refuse("it holds a NUL or half of a surrogate pair")
    if (sql.trim() === "") return refuse("there is no statement in it")
    const verdict = await this.#ask(question)
    return verdict.broken ? refuse(verdict.problem ?? UNREADABLE) : verdict
  }

  async close(): Promise<void> {
    await this.#thread.close()
  }

  async #ask(question: GuardJob): Promise<Verdict> {
    try {
      return await this.#thread.run(question, ({ broken }) => broken)
    } catch {
      return { problem: "it took too long to look through", broken: true }
    }
  }
}
