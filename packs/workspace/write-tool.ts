import { createHash } from "node:crypto"
import type { z } from "zod"
import {
  answer,
  type Answer,
  type Applied,
  type CallContext,
  canonicalJson,
  defineTool,
  failure,
  type InverseCall,
  type OpenWorkspace,
  type Preview,
  type Tool,
  type WorkspaceWrite,
} from "../../core/pack.ts"
import { nounOf } from "./describe-row.ts"
import { type Desk, openDesk, type DeskRow } from "./tables/desk.ts"
import type { ToolText, TableSpec } from "./tables/table.ts"
import { agreedOf, columnsToDescribe, describeDifference } from "./describe-difference.ts"

/** Deleted rows must fit into the call that restores them, so more are not deleted at once. */
export const MAX_DELETED_CHARACTERS = 900_000

export type WriteInput = Readonly<Record<string, unknown>>

/** A call after names and dates were resolved: its preview and its write. */
export interface WritePlan {
  readonly write: WorkspaceWrite
  readonly preview: Omit<Preview, "revision">
  /** Other shown data. If it changes later, the proposal is stale. */
  readonly shown?: unknown
}

export interface TableWriteTool {
  readonly table: TableSpec
  readonly named: ToolText
  readonly input: z.ZodObject
  readonly action: WorkspaceWrite["action"]
  readonly onlyUndoes?: true
  plan(given: WriteInput, desk: Desk): Promise<WritePlan>
  /** Describes the result. `along`: the dependents that were deleted or restored. */
  say(row: DeskRow, desk: Desk, along: Applied["with"]): string
  /** The call that undoes it. */
  inverse(done: Done): InverseCall
}

/** The result of the write, as in the answer. */
export interface Done {
  readonly before: DeskRow | null
  readonly after: DeskRow | null
  readonly with: Applied["with"]
}

/**
 * A tool that writes to a table. Names and dates are resolved for the preview and again for the run; both must be
 * equal.
 */
export function writeTool({ table, named, input, action, ...tool }: TableWriteTool, open: OpenWorkspace): Tool {
  const { name, description, examples } = named
  return defineTool<WriteInput>({
    name,
    description,
    input: input as unknown as z.ZodType<WriteInput>,
    effect: "write",
    onSite: "workspace",
    taint: "private",
    ...(tool.onlyUndoes ? { onlyUndoes: true } : {}),
    examples,
    async preview(given, context) {
      const plan = await tool.plan(given, openDesk(open, context))
      return { ...plan.preview, revision: revisionOf(plan) }
    },
    async run(given, context) {
      const desk = openDesk(open, context)
      const plan = await tool.plan(given, desk)
      requireAgreed(plan, context, nounOf(table))
      return toAnswer(await desk.workspace.write(plan.write, context.callId), desk, agreedOf(plan.write))
    },
    afterCrash: "ask-target",
    async outcome(callId, given, context) {
      const desk = openDesk(open, context)
      const applied = await desk.workspace.outcome(callId, { action, table: table.name })
      return applied ? toAnswer(applied, desk, await columnsToDescribe(table, given, desk)) : "not-applied"
    },
    async bar(callId, _given, context) {
      const desk = openDesk(open, context)
      if (!desk.workspace.bar) return "unknown"
      const applied = await desk.workspace.bar(callId)
      return applied ? toAnswer(applied, desk) : "not-applied"
    },
    inverse: (_given, { change, data }) => {
      const { before, after } = change as { before: DeskRow | null; after: DeskRow | null }
      return tool.inverse({ before, after, with: (data as { with?: Applied["with"] }).with ?? {} })
    },
  })

  function toAnswer(applied: Applied, desk: Desk, agreed: WriteInput = {}): Answer {
    const [before, after] = [applied.before as DeskRow | null, applied.after as DeskRow | null]
    const row = after ?? before
    if (!row) throw failure("outcome_unknown", { problem: "It was applied, but its changes are unknown." })
    const along = Object.keys(applied.with).length > 0 ? { with: applied.with } : {}
    const remark = applied.remark ? ` ${applied.remark}` : ""
    const differs = describeDifference(table, { agreed, row }, desk)
    return answer(tool.say(row, desk, applied.with) + differs + remark, {
      data: { [nounOf(table)]: row, ...along },
      change: { before, after },
    })
  }
}

/** Covers the shown row and the values to write: a changed row, name or date makes a different revision. */
function revisionOf({ write, shown }: WritePlan): string {
  // `shown` contains the related rows completely: without their ids here, proposals from before the ids were sent stay
  // valid.
  const { along: _, ...written } = { along: undefined, ...write }
  const all = canonicalJson({ write: written, shown: shown ?? null })
  return createHash("sha256").update(all).digest("base64url")
}

/** Resolves names again just before the write, because a name may have moved to another row in the meantime. */
function requireAgreed(plan: WritePlan, { approved: agreed }: CallContext, noun: string): void {
  if (agreed?.revision === undefined || agreed.revision === revisionOf(plan)) return
  const id = plan.preview.target ?? "that was shown"
  throw failure("row_stale", { noun, id, columns: "something" })
}
