import { dateColumn, name, reference } from "./kinds.ts"
import { inProject, suggestionFields, WHEN } from "./task.ts"
import type { TableSpec } from "./table.ts"

/** Milestones of a project: titles with a date. */
export const checkpointTable: TableSpec = {
  name: "checkpoints",
  plural: "checkpoints",
  argument: "checkpoint_id",
  fields: [
    {
      ...{ argument: "project_id", column: "projectId", kind: reference("projects"), create: "required" },
      ...{ label: "project", about: "A project's id or exact name" },
    },
    { argument: "title", column: "title", kind: name(), create: "required" },
    { argument: "date", column: "date", kind: dateColumn(), create: "required", label: "date", about: WHEN },
    ...suggestionFields,
  ],
  lists: [
    {
      name: "list_checkpoints",
      description: "List the checkpoints of one project by date.",
      filters: [{ ...inProject, required: true, about: "The project's id or exact name" }],
      always: () => ({ orderBy: "date" }),
      examples: ["list the checkpoints of project Website"],
    },
  ],
  create: {
    ...{ name: "create_checkpoint", verb: "create", done: "created" },
    description: "Propose a new checkpoint of a project.",
    examples: ["add a checkpoint called Launch on 20 November in project Website"],
  },
  update: {
    name: "update_checkpoint",
    description: "Propose a change of one checkpoint: only the arguments you pass are changed.",
    examples: ["move checkpoint Launch to next friday", "rename checkpoint Launch to Go live"],
  },
  delete: {
    name: "delete_checkpoint",
    description: "Propose to delete one checkpoint.",
    examples: ["delete checkpoint Launch"],
  },
  restore: "restore_checkpoint",
  profile: {
    name: "checkpoint",
    description: "Checkpoints and milestones of projects: listing, adding, moving and deleting them.",
  },
}
