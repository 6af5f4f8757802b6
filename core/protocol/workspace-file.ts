import { z } from "zod"
import { boundedList } from "../shared/text/bounded-list.ts"
import {
  Checkpoint,
  Note,
  Project,
  type TableName,
  tableNames,
  Task,
  TaskComment,
  WorkspaceClient,
  workspaceTables,
} from "./workspace-tables.ts"

/** A row of any table. Loose, because the first matching schema is used and must not drop columns of the others. */
export const WorkspaceRow = z.union(
  tableNames.map((name) => workspaceTables[name].row.loose()),
) as unknown as z.ZodType<{
  readonly id: string
  readonly createdAt: number
  readonly [column: string]: unknown
}>

/** The most rows in one import. An import is one transaction, which blocks others, so its size is limited. */
export const MAX_FILE_ROWS = 10_000

/** A whole workspace as a file, as exported. */
export const WorkspaceFile = fileOf((row) => z.array(row))
export type WorkspaceFile = z.infer<typeof WorkspaceFile>

const sizeOf = (file: WorkspaceFile) => tableNames.reduce((sum, name) => sum + file[name].length, 0)

/** A workspace file for import; tables may be omitted. */
export const WorkspaceImport = fileOf((row) => boundedList(row, MAX_FILE_ROWS)).refine(
  (file) => sizeOf(file) <= MAX_FILE_ROWS,
  {
    message: `there are more than ${MAX_FILE_ROWS} rows; import them in several files`,
  },
)

function fileOf(listOf: <Row extends z.ZodObject>(row: Row) => z.ZodType<z.infer<Row>[], unknown>) {
  const rowsOf = <Row extends z.ZodObject>(row: Row) => listOf(row.strict() as unknown as Row).default([])
  return z.strictObject({
    version: z.literal(1).default(1),
    clients: rowsOf(WorkspaceClient),
    projects: rowsOf(Project),
    tasks: rowsOf(Task),
    taskComments: rowsOf(TaskComment),
    checkpoints: rowsOf(Checkpoint),
    notes: rowsOf(Note),
    /** Ids of rows that were written by a run that had read untrusted content. */
    untrusted: boundedList(z.string(), MAX_FILE_ROWS).optional(),
  })
}

/** The number of rows in each workspace table. */
export const RowCounts = z.object(
  Object.fromEntries(tableNames.map((name) => [name, z.number().int()])) as Record<TableName, z.ZodNumber>,
)
export type RowCounts = z.infer<typeof RowCounts>

/** The result of removing the sample data. Rows that were changed, or that other rows depend on, are kept. */
export const SampleRemoval = z.object({
  removed: RowCounts,
  left: z.array(z.object({ table: z.enum(tableNames), id: z.string(), because: z.enum(["changed", "in_use"]) })),
})
export type SampleRemoval = z.infer<typeof SampleRemoval>
