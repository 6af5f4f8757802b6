import type { Task } from "../../../core/protocol/workspace-tables.ts"
import type { CallOutcome, ServerFrame, ToolCall } from "../../../core/protocol/socket.ts"
import { Peer } from "./socket.ts"

/** How a device handles a call: it returns the outcome, or nothing. */
export type Deals = (call: ToolCall) => CallOutcome | undefined

/** Tasks on a user's own machine, which outlive its connections. `ledger` stores the outcomes of writes, so a repeated call returns the same outcome. */
export class Machine {
  readonly tasks = new Map<string, Task>()
  readonly ledger = new Map<string, CallOutcome>()
  /** Every call that ever came, in order. */
  readonly calls: ToolCall[] = []
  /** How often a write has really changed something. */
  effects = 0
  #made = 0

  deal(call: ToolCall): CallOutcome {
    this.calls.push(call)
    const known = this.ledger.get(call.id)
    if (known) return known
    const outcome = this.#perform(call)
    if (["insert", "delete", "restore"].includes(call.action)) this.ledger.set(call.id, outcome)
    return outcome
  }

  #perform({ action, table, data = {}, filters = {} }: ToolCall): CallOutcome {
    if (table !== "tasks") return { error: `There is no table ${String(table)}.` }
    const { id } = data as { id?: string }
    switch (action) {
      case "select":
        return { rows: [...this.tasks.values()].filter(({ title }) => title.includes(filters.search ?? "")) }
      case "get":
        return { row: this.tasks.get(id ?? "") ?? null }
      case "insert": {
        this.effects++
        const row = { id: `local-${++this.#made}`, ...data, createdAt: 1 } as Task
        this.tasks.set(row.id, row)
        return { row }
      }
      case "delete": {
        const row = this.tasks.get(id ?? "")
        if (row) this.effects++
        this.tasks.delete(id ?? "")
        return row ? { deleted: true, row } : { deleted: false }
      }
      case "restore": {
        const { rows } = data as { rows: Task[] }
        this.effects++
        for (const row of rows) this.tasks.set(row.id, row)
        return { rows }
      }
      default:
        return { error: `There is no action ${action}.` }
    }
  }
}

export interface Connecting {
  readonly url: string
  readonly token: string
  /** Without one it does not say hello. */
  readonly deviceId?: string
  readonly ledger?: boolean
  readonly offers?: readonly string[]
  readonly knows?: readonly string[]
  /** Replaces the handling of calls. */
  readonly deals?: Deals
  /** Answers what it is asked about calls. */
  readonly tells?: (id: string) => Record<string, unknown> | undefined
}

/** Connects a machine. */
export async function connect(machine: Machine, connecting: Connecting): Promise<Peer> {
  const { url, token, deviceId, ledger = true, offers = ["workspace"], knows } = connecting
  const deals = connecting.deals ?? ((call) => machine.deal(call))
  const tells =
    connecting.tells ??
    ((id) => {
      const known = machine.ledger.get(id)
      return known ? { status: "applied", ...known } : { status: "unknown" }
    })
  const peer = await Peer.open(url, { authorization: `Bearer ${token}` })
  peer.socket.on("message", (data: Buffer) => {
    const frame = JSON.parse(data.toString()) as ServerFrame
    if (frame.type === "ping") return peer.send({ type: "pong" })
    const outcome = frame.type === "tool_call" ? deals(frame) : undefined
    if (frame.type === "tool_call" && outcome) return peer.send({ type: "tool_result", id: frame.id, ...outcome })
    const told = frame.type === "tool_status" ? tells(frame.id) : undefined
    if (frame.type === "tool_status" && told) peer.send({ type: "tool_status", id: frame.id, ...told })
  })
  if (deviceId !== undefined) {
    peer.send({ type: "hello", deviceId, ledger, offers, ...(knows ? { knows } : {}) })
    await peer.next("hello")
  }
  return peer
}
