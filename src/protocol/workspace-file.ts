import { z } from "zod"
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

/** A row of any table. Loose, because the first that fits is taken, and must not drop what the others have. */
const [first, ...others] = tableNames.map((name) => workspaceTables[name].row.loose())
export const WorkspaceRow = z.union([first!, ...others]) as unknown as z.ZodType<{
  readonly id: string
  readonly createdAt: number
  readonly [column: string]: unknown
}>

const MOST_ROWS = 10_000
const rowsOf = <Shape extends z.core.$ZodLooseShape>(row: z.ZodObject<Shape>) =>
  z.array(row.strict()).max(MOST_ROWS).default([])

/** A whole workspace as a file: what an export gives and an import takes. Tables may be left out. */
export const WorkspaceFile = z.strictObject({
  version: z.literal(1).default(1),
  clients: rowsOf(WorkspaceClient),
  projects: rowsOf(Project),
  tasks: rowsOf(Task),
  taskComments: rowsOf(TaskComment),
  checkpoints: rowsOf(Checkpoint),
  notes: rowsOf(Note),
})
export type WorkspaceFile = z.infer<typeof WorkspaceFile>

/** How many rows of each table. */
export const RowCounts = z.object(
  Object.fromEntries(tableNames.map((name) => [name, z.number().int()])) as Record<TableName, z.ZodNumber>,
)
export type RowCounts = z.infer<typeof RowCounts>

/** What came of taking the sample out: rows that were changed, or that something of the person's own hangs on, stay. */
export const SampleRemoval = z.object({
  removed: RowCounts,
  left: z.array(z.object({ table: z.enum(tableNames), id: z.string(), because: z.enum(["changed", "in_use"]) })),
})
export type SampleRemoval = z.infer<typeof SampleRemoval>
