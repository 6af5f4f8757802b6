import { z } from "zod"
import { boundedList } from "./bounded-list.ts"
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
import { lazily } from "./lazily.ts"

/** A row of any table. Loose, because the first that fits is taken, and must not drop what the others have. */
export const WorkspaceRow = lazily(() =>
  z.union(tableNames.map((name) => workspaceTables[name].row.loose())),
) as unknown as z.ZodType<{
  readonly id: string
  readonly createdAt: number
  readonly [column: string]: unknown
}>

/** A whole workspace as a file: what an export gives. */
export const WorkspaceFile = lazily(() => fileOf((row) => z.array(row)))
export type WorkspaceFile = z.infer<typeof WorkspaceFile>

/** They become one transaction, which others wait for. */
export const MAX_FILE_ROWS = 10_000
const sizeOf = (file: WorkspaceFile) => tableNames.reduce((sum, name) => sum + file[name].length, 0)

/** The same as an import takes it: tables may be left out. */
export const WorkspaceImport = lazily(() =>
  fileOf((row) => boundedList(row, MAX_FILE_ROWS)).refine((file) => sizeOf(file) <= MAX_FILE_ROWS, {
    message: `there are more than ${MAX_FILE_ROWS} rows; import them in several files`,
  }),
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
  })
}

/** How many rows of each table. */
export const RowCounts = lazily(() =>
  z.object(Object.fromEntries(tableNames.map((name) => [name, z.number().int()])) as Record<TableName, z.ZodNumber>),
)
export type RowCounts = z.infer<typeof RowCounts>

/** What came of taking the sample out: rows that were changed, or that something of the person's own hangs on, stay. */
export const SampleRemoval = lazily(() =>
  z.object({
    removed: RowCounts,
    left: z.array(z.object({ table: z.enum(tableNames), id: z.string(), because: z.enum(["changed", "in_use"]) })),
  }),
)
export type SampleRemoval = z.infer<typeof SampleRemoval>
