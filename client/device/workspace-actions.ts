import { z } from "zod"
import { failure } from "../../core/protocol/errors.ts"
import { JsonObject } from "../../core/protocol/schema.ts"
import {
  type CallOutcome,
  MAX_FRAME_BYTES,
  type readActions,
  type ToolCall,
  type writeActions,
} from "../../core/protocol/socket.ts"
import type { LocalTables } from "./local-tables.ts"
import type { LocalVectors } from "./local-vectors.ts"
import { readTable } from "../../core/workspace/known-tables.ts"
import { toRowPage } from "../../core/workspace/page-rows.ts"
import { parseInput } from "../../core/workspace/read-input.ts"
import { boundedRecord } from "../../core/shared/text/bounded-list.ts"

/** The data that workspace actions use. */
export interface LocalWorkspace {
  readonly tables: LocalTables
  readonly vectors: LocalVectors
}

type Action = (workspace: LocalWorkspace, call: ToolCall) => CallOutcome

export const reads: Readonly<Record<(typeof readActions)[number], Action>> = {
  select: ({ tables }, call) => {
    const rows = tables.select(tableOf(call), call.filters)
    const { limit, after, columns } = call
    // A caller that does not ask for a page may not support paging and would take the first page for everything.
    if (limit === undefined && after === undefined && columns === undefined) return { rows }
    return { ...toRowPage(readTable(tableOf(call)), rows, { limit, after, columns }, MAX_PAGE_BYTES) }
  },
  get: ({ tables }, call) => ({ row: tables.get(tableOf(call), idOf(call)) }),
  hanging: ({ tables }, call) => {
    const row = tables.get(tableOf(call), idOf(call))
    return { row, with: row ? (tables.hanging(tableOf(call), idOf(call)) as Record<string, JsonObject[]>) : {} }
  },
  vector_search: ({ vectors }, call) => {
    requireNotes(call)
    return { results: vectors.search(call.vector, call.limit, call.filters) }
  },
}

export const writes: Readonly<Record<(typeof writeActions)[number], Action>> = {
  insert: ({ tables }, call) => ({ row: tables.insert(tableOf(call), call.data ?? {}) }),
  update: ({ tables }, call) => tables.change(tableOf(call), call.data),
  delete: ({ tables }, call) => {
    const { id, expect, with: along } = parseInput(Delete, call.data, "The data of delete")
    const gone = tables.delete(tableOf(call), id, expect ?? undefined, along ?? undefined)
    return gone ? { deleted: true, row: gone.row, with: gone.with as Record<string, JsonObject[]> } : { deleted: false }
  },
  restore: ({ tables }, call) => ({ rows: tables.restore(tableOf(call), call.data) }),
  vector_upsert: ({ vectors }, call) => {
    requireNotes(call)
    vectors.upsert(call.data, call.vector)
    return { ok: true }
  },
  vector_delete: ({ vectors }, call) => {
    requireNotes(call)
    vectors.delete(idOf(call))
    return { ok: true }
  },
}

/** Leaves room for the rest of the frame around a page. */
const MAX_PAGE_BYTES = MAX_FRAME_BYTES - 8 * 1024

const Id = z.string().min(1).max(200)
const Delete = z.strictObject({
  id: Id,
  expect: JsonObject.nullish(),
  with: boundedRecord(z.record(z.string(), z.array(Id).max(10_000)), 100).nullish(),
})

const WithId = z.strictObject({ id: Id })
const idOf = ({ action, data }: ToolCall): string => parseInput(WithId, data, `The data of ${action}`).id

function tableOf({ action, table }: ToolCall): string {
  if (table === undefined) throw failure("bad_request", { problem: `${action} needs the name of a table.` })
  return table
}

/** Only notes have vectors, so the table may be omitted. */
function requireNotes({ action, table = "notes" }: ToolCall): void {
  if (table !== "notes") throw failure("bad_request", { problem: `${action} works on notes, not on "${table}".` })
}
