import { date, name, reference } from "./kinds.ts"
import { tablePhrase } from "./phrase.ts"
import { inProject, suggestionFields, WHEN } from "./task.ts"
import type { TableSpec } from "./table.ts"

const CHECKPOINT = "(?: the| my)? (?:checkpoint|milestone)"

/** Dates that a project is measured by. */
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
    { argument: "date", column: "date", kind: date(), create: "required", label: "date", about: WHEN },
    ...suggestionFields,
  ],
  lists: [
    {
      name: "list_checkpoints",
      description: "List the checkpoints of one project by date.",
      filters: [{ ...inProject, required: true, about: "The project's id or exact name" }],
      always: () => ({ orderBy: "date" }),
      phrases: [
        tablePhrase(
          "(?:list|show)(?: me)?(?: all)?(?: the| my)? (?:checkpoints|milestones) (?:in|of|for)(?: the| my)?(?: project)? (?<project>.+)",
          "list the checkpoints of project Website",
          (said) => ({ project_id: said("project") }),
        ),
      ],
    },
  ],
  create: {
    ...{ name: "create_checkpoint", verb: "create", done: "created" },
    description: "Propose a new checkpoint of a project.",
    phrases: [
      tablePhrase(
        "(?:add|create)(?: a| another)?(?: new)? (?:checkpoint|milestone)(?:: ?| called | named | )(?<title>.+?) on (?<date>.+) (?:in|for|to)(?: the| my)? project (?<project>.+)",
        "add a checkpoint called Launch on 20 November in project Website",
        (said) => ({ project_id: said("project"), title: said("title"), date: said("date") }),
      ),
    ],
  },
  update: {
    name: "update_checkpoint",
    description: "Propose a change of one checkpoint: only the arguments you give are changed.",
    phrases: [
      tablePhrase(
        `(?:move|postpone)${CHECKPOINT} (?<checkpoint>.+?) to (?<date>.+)`,
        "move checkpoint Launch to next friday",
        (said) => ({
          checkpoint_id: said("checkpoint"),
          date: said("date"),
        }),
      ),
      tablePhrase(
        `rename${CHECKPOINT} (?<checkpoint>.+?) to (?<title>.+)`,
        "rename checkpoint Launch to Go live",
        (said) => ({
          checkpoint_id: said("checkpoint"),
          title: said("title"),
        }),
      ),
    ],
  },
  delete: {
    name: "delete_checkpoint",
    description: "Propose to delete one checkpoint.",
    phrases: [
      tablePhrase(`(?:delete|remove)${CHECKPOINT} (?<checkpoint>.+)`, "delete checkpoint Launch", (said) => ({
        checkpoint_id: said("checkpoint"),
      })),
    ],
  },
  restore: "restore_checkpoint",
  profile: {
    name: "checkpoint",
    description: "Checkpoints and milestones of projects: listing, adding, moving and deleting them.",
    examples: [
      ...["list the checkpoints of project Website", "add a checkpoint called Launch on Friday in project Website"],
      ...["move the launch milestone to next month", "when is the next milestone of Website?"],
    ],
  },
}
