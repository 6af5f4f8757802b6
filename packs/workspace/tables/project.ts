import { z } from "zod"
import { Project } from "../../../core/pack.ts"
import { choice, name, reference, text } from "./kinds.ts"
import type { Filter, TableSpec } from "./table.ts"

const ofClient: Filter = {
  ...{ argument: "client_id", key: "clientId", schema: z.string().max(1000), refers: "clients" },
  about: "Only projects for this client, by its id or exact name",
  words: (client) => ` for client ${client}`,
}

export const projectTable: TableSpec = {
  name: "projects",
  plural: "projects",
  argument: "project_id",
  body: "aiSummary",
  unlisted: ["aiSummary"],
  fields: [
    { argument: "name", column: "name", kind: name(), create: "required" },
    {
      ...{ argument: "client_id", column: "clientId", kind: reference("clients", { optional: true }) },
      ...{ create: "optional", label: "client", about: 'A client\'s id or exact name; "none" for no client' },
    },
    {
      ...{ argument: "status", column: "status", create: "never", label: "status" },
      // An archived project is not lost, but disappears from lists.
      kind: choice(Project.shape.status, (_, after) => after === "archived"),
    },
    {
      ...{ argument: "ai_summary", column: "aiSummary", kind: text(100_000, { optional: true }), create: "never" },
      about: "A summary in a few sentences",
    },
  ],
  lists: [
    {
      name: "list_projects",
      description: "List the person's projects, without the archived ones unless include_archived.",
      filters: [
        ofClient,
        {
          ...{ argument: "include_archived", key: "includeArchived", schema: z.boolean() },
          about: "True to have archived ones too",
        },
      ],
      examples: ["list my projects", "how many projects do I have"],
    },
    {
      name: "list_all_projects",
      description: "List all of the person's projects, archived ones too.",
      filters: [],
      always: () => ({ includeArchived: true }),
      examples: ["list all projects", "list my projects including archived ones"],
    },
  ],
  get: {
    name: "get_project",
    description: "Show one project with its client, state and summary.",
    examples: ["show project Website"],
  },
  create: {
    ...{ name: "create_project", verb: "create", done: "created" },
    examples: ["create a project called Website"],
    description: "Propose a new project.",
  },
  update: {
    name: "update_project",
    description:
      "Propose a change of one project: only the arguments you pass are changed. Archiving is status archived.",
    examples: ["rename project Website to Web shop", "archive project Website", "reactivate project Website"],
  },
  delete: {
    name: "delete_project",
    description: "Propose to delete one project, with its tasks, checkpoints and notes.",
    examples: ["delete project Website"],
  },
  restore: "restore_project",
  profile: {
    name: "project",
    description: "Projects: finding, adding, renaming, archiving and deleting them.",
  },
}
