import { z } from "zod"
import { boundedList } from "../../bounded-list.ts"
import { Day } from "../../time/day.ts"
import { defineRoutes } from "../route.ts"
import { JsonObject } from "../../schema.ts"
import {
  MAX_FILE_ROWS,
  RowCounts,
  SampleRemoval,
  WorkspaceFile,
  WorkspaceImport,
  WorkspaceRow,
} from "../../workspace-file.ts"
import { TimeZone } from "../../time/zone.ts"
import { tableNames } from "../../workspace-tables.ts"
import { lazily } from "../../lazily.ts"

/** Which rows. A table takes those of its own columns; any other is refused. */
export const RowQuery = lazily(() =>
  z.strictObject({
    projectId: z.string().optional(),
    clientId: z.string().optional(),
    taskId: z.string().optional(),
    status: z.string().optional(),
    search: z.string().optional(),
    orderBy: z.string().optional(),
    /** A day, or milliseconds. */
    dueDateFrom: z.union([Day, z.coerce.number<string>()]).optional(),
    dueDateTo: z.union([Day, z.coerce.number<string>()]).optional(),
    timeZone: TimeZone.optional(),
    includeArchived: z.enum(["true", "false"]).optional(),
  }),
)

/** `expect`: only while the row holds these values, otherwise 409 `row_stale`. */
export const RowPatch = lazily(() => z.strictObject({ updates: JsonObject, expect: JsonObject.nullish() }))
/** The same as JSON text, in the address: bodies of a DELETE get lost on the way, and with them the condition. */
export const RowDeletion = lazily(() => z.strictObject({ expect: z.string().max(20_000).optional() }))

const ByTable = lazily(() => z.record(z.string(), z.array(WorkspaceRow)))
const DeletedRows = lazily(() => boundedList(JsonObject, MAX_FILE_ROWS))
const Restore = lazily(() =>
  z.strictObject({ rows: DeletedRows, with: z.partialRecord(z.enum(tableNames), DeletedRows).nullish() }),
)

/** The person's own hand on their workspace on this server. What stands before `{table}` would otherwise be one. */
export const workspaceRoutes = defineRoutes({
  exportWorkspace: {
    method: "GET",
    path: "/api/workspace/export",
    needs: "manage",
    says: "Your whole workspace on this server, to keep or to import elsewhere.",
    answers: { 200: WorkspaceFile },
  },
  importWorkspace: {
    method: "POST",
    path: "/api/workspace/import",
    needs: "approve",
    says: "Adds the rows of a file, all or none, each under a new id. What a row belongs to must be in the file too.",
    body: WorkspaceImport,
    large: "workspace",
    answers: { 201: RowCounts },
  },
  loadSample: {
    method: "POST",
    path: "/api/workspace/sample",
    needs: "approve",
    says: "Adds a small workspace to try things on, with something due today in `timeZone`; 409 `sample_loaded` while it is there.",
    query: lazily(() => z.strictObject({ timeZone: TimeZone.optional() })),
    answers: { 201: RowCounts },
  },
  removeSample: {
    method: "DELETE",
    path: "/api/workspace/sample",
    needs: "manage",
    says: "Takes the sample out again, but for rows that you have changed or that something of yours hangs on.",
    answers: { 200: SampleRemoval },
  },
  listRows: {
    method: "GET",
    path: "/api/workspace/{table}",
    needs: "read",
    says: "Rows of a table: tasks, projects, checkpoints, notes, taskComments or clients; those that fit the filters.",
    query: RowQuery,
    answers: { 200: lazily(() => z.object({ items: z.array(WorkspaceRow) })) },
  },
  readRow: {
    method: "GET",
    path: "/api/workspace/{table}/{id}",
    needs: "read",
    says: "One row.",
    answers: { 200: WorkspaceRow },
  },
  createRow: {
    method: "POST",
    path: "/api/workspace/{table}",
    needs: "approve",
    says: "Adds a row; the server makes its id and its times.",
    body: JsonObject,
    answers: { 201: WorkspaceRow },
  },
  changeRow: {
    method: "PATCH",
    path: "/api/workspace/{table}/{id}",
    needs: "approve",
    says: "Changes some columns; with `expect` only while the row holds what that says, otherwise 409 `row_stale`.",
    body: RowPatch,
    answers: { 200: WorkspaceRow },
  },
  deleteRow: {
    method: "DELETE",
    path: "/api/workspace/{table}/{id}",
    needs: "manage",
    says: "Deletes a row with what hangs on it and answers with both. `expect` is JSON text here.",
    query: RowDeletion,
    answers: { 200: lazily(() => z.object({ row: WorkspaceRow, with: ByTable })) },
  },
  restoreRows: {
    method: "POST",
    path: "/api/workspace/{table}/restore",
    needs: "approve",
    says: "Puts deleted rows back under their ids, with what went along, as the deletion answered them.",
    body: Restore,
    answers: { 200: lazily(() => z.object({ rows: z.array(WorkspaceRow), with: ByTable })) },
  },
})
