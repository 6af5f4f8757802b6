import { openDatabase } from "./open-database.ts"
import { type Handlers, LocalCalls, type LocalCallsOptions } from "./local-calls.ts"
import { LocalTables } from "./local-tables.ts"
import { LocalVectors } from "./local-vectors.ts"
import type { CallOutcome, ToolCall } from "../../core/protocol/socket.ts"

/** Executes calls as a device does, without a server. The time is set by the test. */
export class LocalDevice implements Disposable {
  now = Date.UTC(2026, 0, 1)
  readonly db
  readonly calls: LocalCalls
  readonly #closing = new AbortController()
  #count = 0

  constructor(
    file = ":memory:",
    handlers: Handlers = {},
    more: Partial<Pick<LocalCallsOptions, "readers" | "onProblem">> = {},
  ) {
    this.db = openDatabase(file)
    const now = () => this.now
    const workspace = { tables: new LocalTables(this.db, now), vectors: new LocalVectors(this.db) }
    this.calls = new LocalCalls({ db: this.db, now, handlers, signal: this.#closing.signal, ...more, ...workspace })
  }

  offer(action: string, more: Partial<ToolCall> = {}): Promise<CallOutcome | undefined> {
    return this.calls.perform({ type: "tool_call", id: `call_${++this.#count}`, action, ...more })
  }

  /** The outcome of a call that must succeed. */
  async does(action: string, more: Partial<ToolCall> = {}): Promise<CallOutcome> {
    const outcome = await this.offer(action, more)
    if (!outcome || outcome.error !== undefined) throw new Error(outcome?.error ?? "no answer")
    return outcome
  }

  async insert(table: string, data: ToolCall["data"] & object): Promise<Record<string, unknown> & { id: string }> {
    const { row } = await this.does("insert", { table, data })
    return row as Record<string, unknown> & { id: string }
  }

  /** The error of a call that must be refused. */
  async refusal(action: string, more: Partial<ToolCall> = {}): Promise<string> {
    const outcome = await this.offer(action, more)
    if (outcome?.error === undefined) throw new Error(`not refused: ${JSON.stringify(outcome)}`)
    return outcome.error
  }

  rows(table: string): unknown[] {
    return this.db.prepare(`SELECT * FROM "${table}" ORDER BY id`).all()
  }

  [Symbol.dispose](): void {
    this.#closing.abort()
    this.db.close()
  }
}
