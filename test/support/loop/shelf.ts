import { z } from "zod"
import { answer, defineTool, type Tool } from "../../../core/engine/definition/tool.ts"
import type { CallId } from "../../../core/protocol/ids.ts"
import type { World } from "./world.ts"

/** A shelf of books that remembers the calls that it has applied: it can report them, and its writes can be undone. */
export class Shelf {
  readonly books = new Map<string, string>()
  /** Completed writes, in order. */
  readonly log: string[] = []
  readonly #applied = new Map<CallId, ReturnType<typeof answer>>()
  /** Called after the effect of a write and before its answer, to crash there. */
  afterEffect: () => void = () => {}

  /** Called before the removal of a book is proposed. */
  beforeTaking: () => Promise<void> | void = () => {}

  #apply(callId: CallId, apply: () => ReturnType<typeof answer>) {
    const known = this.#applied.get(callId)
    if (known) return known
    const told = apply()
    this.#applied.set(callId, told)
    this.afterEffect()
    return told
  }

  /** `put` and `take` are each other's inverse. */
  readonly tools: readonly Tool[] = [
    defineTool({
      name: "put",
      description: "Puts a book on the shelf.",
      input: z.object({ id: z.string(), title: z.string() }),
      effect: "write",
      afterCrash: "ask-target",
      outcome: (callId) => this.#applied.get(callId) ?? "not-applied",
      inverse: ({ id }) => ({ tool: "take", input: { id } }),
      preview: ({ id, title }) => ({
        summary: `Put "${title}" on the shelf`,
        action: "safe_create",
        diff: { before: "as proposed", after: { id, title } },
      }),
      run: ({ id, title }, { callId }) =>
        this.#apply(callId, () => {
          const before = this.books.get(id) ?? null
          this.books.set(id, title)
          this.log.push(`put ${id}`)
          return answer(`"${title}" is on the shelf.`, { data: { id }, change: { before, after: title } })
        }),
    }),
    defineTool({
      name: "take",
      description: "Takes a book off the shelf.",
      input: z.object({ id: z.string() }),
      effect: "write",
      afterCrash: "ask-target",
      outcome: (callId) => this.#applied.get(callId) ?? "not-applied",
      inverse: ({ id }, { data }) => ({ tool: "put", input: { id, title: (data as { title: string }).title } }),
      preview: async ({ id }) => {
        await this.beforeTaking()
        const title = this.books.get(id)
        if (title === undefined) throw new Error(`there is no book ${id}`)
        return { summary: `Take "${title}" off the shelf`, action: "destructive_delete" }
      },
      run: ({ id }, { callId }) =>
        this.#apply(callId, () => {
          const title = this.books.get(id) ?? ""
          this.books.delete(id)
          this.log.push(`take ${id}`)
          return answer(`"${title}" is off the shelf.`, { data: { title }, change: { before: title, after: null } })
        }),
    }),
  ]
}

export interface AuditRow {
  readonly id: string
  readonly conversation_id: string
  readonly user_id: string
  readonly run_id: string
  readonly call_id: string
  readonly proposal_id: string
  readonly tool: string
  readonly arguments: string
  readonly before: string
  readonly after: string
  readonly summary: string
  readonly decided_by: string
  readonly applied_at: number
  readonly inverse: string | null
  readonly undoes: string | null
  readonly undone_by: string | null
}

/** The audit as plain SQL shows it, oldest first. */
export const auditRows = ({ store }: Pick<World, "store">) =>
  store.engine.query<AuditRow>("SELECT * FROM audit ORDER BY applied_at, id", [])
