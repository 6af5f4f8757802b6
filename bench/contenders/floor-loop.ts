import type { Contender } from "../contender.ts"
import { bareDeltas, decide, type Entry, lookUp, TOOL } from "../script.ts"

export type Row =
  | { readonly role: "user" | "assistant"; readonly text: string }
  | {
      readonly role: "call"
      readonly id: string
      readonly name: string
      readonly input: { key: string; fields: string }
    }
  | { readonly role: "tool"; readonly id: string; readonly text: string }

/** The storage of a floor: rows by conversation, in order. */
export interface Rows {
  append(id: string, place: number, row: Row): Promise<void> | void
  read(id: string): Promise<Row[]> | Row[]
  close(): Promise<void> | void
}

export interface FloorOptions {
  /** Conversations stay in memory between turns. */
  readonly hot: boolean
  /** A new conversation is searched in the store, too. */
  readonly looksFirst: boolean
}

/**
 * The floor: the least that a correct durable loop can do. One row per message, each committed before the next step.
 * The model gets the whole history. No runs, leases, proposals, limits or watchers.
 */
export function createFloor(rows: Rows, { hot, looksFirst }: FloorOptions): Contender {
  const memory = new Map<string, Row[]>()
  let calls = 0

  async function load(id: string, first: boolean): Promise<Row[]> {
    const known = hot ? memory.get(id) : undefined
    if (known) return known
    const history = first && !looksFirst ? [] : await rows.read(id)
    if (hot) memory.set(id, history)
    return history
  }

  function append(id: string, history: Row[], row: Row): Promise<void> | void {
    history.push(row)
    return rows.append(id, history.length - 1, row)
  }

  async function ask(history: Row[]) {
    const last = history.at(-1)
    if (!last || last.role === "call") throw new Error("nothing to answer")
    return decide({ role: last.role === "tool" ? "tool" : "user", text: last.text }, history.length)
  }

  /** Runs to the final text; without approval it stops at the call and returns undefined. */
  async function loop(id: string, history: Row[], approved: boolean): Promise<string | undefined> {
    for (;;) {
      const last = history.at(-1)
      if (last?.role === "call") {
        if (!approved) return undefined
        await append(id, history, { role: "tool", id: last.id, text: lookUp(last.input) })
        continue
      }
      const reply = await ask(history)
      if (reply.type === "deltas") throw new Error("a stream is asked for with stream()")
      if (reply.type === "text") {
        await append(id, history, { role: "assistant", text: reply.text })
        return reply.text
      }
      await append(id, history, { role: "call", id: `call_${++calls}`, name: TOOL, input: reply.input })
    }
  }

  async function* streamed(id: string, text: string): AsyncGenerator<string> {
    const history = await load(id, true)
    await append(id, history, { role: "user", text })
    const reply = await ask(history)
    let whole = ""
    for await (const delta of bareDeltas(reply.type === "deltas" ? reply.count : 0)) {
      whole += delta
      yield delta
    }
    await append(id, history, { role: "assistant", text: whole })
  }

  return {
    async turn(id, text, first) {
      const history = await load(id, first)
      await append(id, history, { role: "user", text })
      return (await loop(id, history, true)) ?? ""
    },
    async stream(id, text, show) {
      for await (const delta of streamed(id, text)) show(delta)
    },
    async pause(id, text) {
      const history = await load(id, true)
      await append(id, history, { role: "user", text })
      await loop(id, history, false)
      memory.delete(id) // a conversation that waits for a person is only on disk
    },
    async resume(id) {
      return (await loop(id, await load(id, false), true)) ?? ""
    },
    countPaused: async () => undefined,
    transcript: async (id) => (await rows.read(id)).map(toEntry),
    async close() {
      await rows.close()
    },
  }
}

function toEntry(row: Row): Entry {
  if (row.role === "call") return ["call", row.name]
  return [row.role === "tool" ? "result" : row.role === "assistant" ? "text" : "user", row.text]
}
