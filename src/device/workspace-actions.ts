import { z } from "zod"
import { failure } from "../protocol/errors.ts"
import type { JsonObject } from "../protocol/schema.ts"
import type { CallOutcome, readActions, ToolCall, writeActions } from "../protocol/socket.ts"
import type { LocalTables } from "./local-tables.ts"
import type { LocalVectors } from "./local-vectors.ts"
import { read } from "../workspace/read-input.ts"

/** What the actions of a workspace work on. */
export interface LocalWorkspace {
  readonly tables: LocalTables
  readonly vectors: LocalVectors
}

type Action = (workspace: LocalWorkspace, call: ToolCall) => CallOutcome

export const reads: Readonly<Record<(typeof readActions)[number], Action>> = {
  select: ({ tables }, call) => ({ rows: tables.select(tableOf(call), call.filters) }),
  get: ({ tables }, call) => ({ row: tables.get(tableOf(call), idOf(call)) }),
  vector_search: ({ vectors }, call) => {
    requireNotes(call)
    return { results: vectors.search(call.vector, call.limit, call.filters) }
  },
}

export const writes: Readonly<Record<(typeof writeActions)[number], Action>> = {
  insert: ({ tables }, call) => ({ row: tables.insert(tableOf(call), call.data ?? {}) }),
  update: ({ tables }, call) => tables.change(tableOf(call), call.data),
  delete: ({ tables }, call) => {
    const gone = tables.delete(tableOf(call), idOf(call))
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

const WithId = z.strictObject({ id: z.string().min(1).max(200) })
const idOf = ({ action, data }: ToolCall): string => read(WithId, data, `The data of ${action}`).id

function tableOf({ action, table }: ToolCall): string {
  if (table === undefined) throw failure("bad_request", { problem: `${action} needs the name of a table.` })
  return table
}

/** Only notes are found by meaning, so the table may be left out. */
function requireNotes({ action, table = "notes" }: ToolCall): void {
  if (table !== "notes") throw failure("bad_request", { problem: `${action} works on notes, not on "${table}".` })
}
