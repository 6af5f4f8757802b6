import { z } from "zod"
import { pageOf } from "../answers.ts"
import { boundedList, boundedRecord } from "../../shared/text/bounded-list.ts"
import { Day } from "../../shared/time/day.ts"
import { defineRoutes } from "./route.ts"
import { JsonObject } from "../schema.ts"
import {
  MAX_FILE_ROWS,
  RowCounts,
  SampleRemoval,
  WorkspaceFile,
  WorkspaceImport,
  WorkspaceRow,
} from "../workspace-file.ts"
import { TimeZone } from "../../shared/time/zone.ts"
import { tableNames } from "../workspace-tables.ts"

/** Filters. A table accepts its own columns; others are refused. */
export const RowQuery = z.strictObject({
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
  cursor: z.string().max(300).optional(),
  /** A page may have fewer: it is bounded in bytes too. */
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
})

/** A row as a list has it. */
const ListedRow = z.intersection(
  WorkspaceRow,
  z.looseObject({ truncated: z.record(z.string(), z.number().int()).optional() }),
)

/** `expect`: only while the row holds these values, otherwise 409 `row_stale`. */
export const RowPatch = z.strictObject({ updates: JsonObject, expect: JsonObject.nullish() })
/** The same as JSON text, in the address: bodies of a DELETE get lost on the way, and with them the condition. */
export const RowDeletion = z.strictObject({ expect: z.string().max(20_000).optional() })

const ByTable = z.record(z.string(), z.array(WorkspaceRow))
const DeletedRows = boundedList(JsonObject, MAX_FILE_ROWS)
const Restore = z.strictObject({
  rows: DeletedRows,
  with: boundedRecord(z.partialRecord(z.enum(tableNames), DeletedRows), tableNames.length).nullish(),
})

/**
 * Direct access of users to their workspace on this server. These come first, because `{table}` would match them as
 * well.
 */
export const workspaceRoutes = defineRoutes({
  exportWorkspace: {
    method: "GET",
    path: "/api/workspace/export",
    needs: "manage",
    says: "Exports your whole workspace on this server, for backup or import.",
    answers: { 200: WorkspaceFile },
  },
  importWorkspace: {
    method: "POST",
    path: "/api/workspace/import",
    needs: "approve",
    says: "Imports the rows of a file with new ids, all or none. Rows that they refer to must be in the file too.",
    body: WorkspaceImport,
    large: "workspace",
    answers: { 201: RowCounts },
  },
  loadSample: {
    method: "POST",
    path: "/api/workspace/sample",
    needs: "approve",
    says: "Adds a small sample workspace, with something due today in `timeZone`; 409 `sample_loaded` if it is already there.",
    query: z.strictObject({ timeZone: TimeZone.optional() }),
    answers: { 201: RowCounts },
  },
  removeSample: {
    method: "DELETE",
    path: "/api/workspace/sample",
    needs: "manage",
    says: "Removes the sample, except rows that you have changed or that your own rows depend on.",
    answers: { 200: SampleRemoval },
  },
  listRows: {
    method: "GET",
    path: "/api/workspace/{table}",
    needs: "read",
    says: 'Lists rows of a table (tasks, projects, checkpoints, notes, taskComments or clients) that match the filters. A row with `taint: "untrusted"` was written by a run that had read untrusted content, and keeps the mark until you replace all its text. Oldest first, in pages of at most 450 kB: repeat with `cursor` until `nextCursor` is null. Text over 2,000 characters is shortened in lists, and `truncated` has its column and full size in bytes; the row itself has the whole text. A page of a search can be empty and have a `nextCursor`.',
    query: RowQuery,
    answers: { 200: pageOf(ListedRow) },
  },
  readRow: {
    method: "GET",
    path: "/api/workspace/{table}/{id}",
    needs: "read",
    says: "Returns one row, with `taint` as in the list.",
    answers: { 200: WorkspaceRow },
  },
  createRow: {
    method: "POST",
    path: "/api/workspace/{table}",
    needs: "approve",
    says: "Adds a row. The server sets its id and times.",
    body: JsonObject,
    answers: { 201: WorkspaceRow },
  },
  changeRow: {
    method: "PATCH",
    path: "/api/workspace/{table}/{id}",
    needs: "approve",
    says: "Changes some columns. With `expect`, only if the row still has those values, otherwise 409 `row_stale`.",
    body: RowPatch,
    answers: { 200: WorkspaceRow },
  },
  deleteRow: {
    method: "DELETE",
    path: "/api/workspace/{table}/{id}",
    needs: "manage",
    says: "Deletes a row with the rows that depend on it, and returns them. `expect` is JSON text here.",
    query: RowDeletion,
    answers: { 200: z.object({ row: WorkspaceRow, with: ByTable }) },
  },
  restoreRows: {
    method: "POST",
    path: "/api/workspace/{table}/restore",
    needs: "approve",
    says: "Restores deleted rows with their ids, as the deletion returned them.",
    body: Restore,
    answers: { 200: z.object({ rows: z.array(WorkspaceRow), with: ByTable }) },
  },
})
