import { z } from "zod"
import type { Phrase } from "../../../agent/definition/phrases.ts"
import { Project } from "../../../protocol/workspace-tables.ts"
import { choice, name, reference, text } from "./kinds.ts"
import { given, tablePhrase, takeEndings, unquote } from "./phrase.ts"
import type { Filter, TableSpec } from "./table.ts"
import { lazily } from "../../../protocol/lazily.ts"

const project = (said: (group: string) => string, changes: Record<string, unknown> = {}) => ({
  project_id: said("project"),
  ...changes,
})
const NAMED = "(?:: ?| called | named | )"
const PROJECT = "(?: the| my)? project:? (?<project>.+)"

const createPhrases: readonly Phrase[] = [
  tablePhrase(
    `(?:add|create|make|start|new)(?: me)?(?: a| another)?(?: new)? project${NAMED}(?<name>.+)`,
    "create a project called Website",
    (_, quoted) => {
      const { rest, found } = takeEndings(quoted("name"), { client: [" for client ", " for the client "] })
      return given({ name: unquote(rest), client_id: found.client })
    },
  ),
]

const updatePhrases: readonly Phrase[] = [
  tablePhrase(
    "rename(?: the| my)? project (?<project>.+?) to (?<name>.+)",
    "rename project Website to Web shop",
    (said) => project(said, { name: said("name") }),
  ),
  tablePhrase(`archive${PROJECT}`, "archive project Website", (said) => project(said, { status: "archived" })),
  tablePhrase(`(?:unarchive|reactivate)${PROJECT}`, "reactivate project Website", (said) =>
    project(said, { status: "active" }),
  ),
]

const ofClient: Filter = {
  ...{ argument: "client_id", key: "clientId", schema: lazily(() => z.string().max(1000)), refers: "clients" },
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
      ...{ argument: "client_id", column: "clientId", kind: reference("clients", "orNone") },
      ...{ create: "optional", label: "client", about: 'A client\'s id or exact name; "none" for no client' },
    },
    {
      ...{ argument: "status", column: "status", create: "never", label: "status" },
      // Nothing is lost, but it disappears from the lists that people look at.
      kind: choice(
        lazily(() => Project.shape.status),
        (_, after) => after === "archived",
      ),
    },
    {
      ...{ argument: "ai_summary", column: "aiSummary", kind: text(100_000, "orNone"), create: "never" },
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
          ...{ argument: "include_archived", key: "includeArchived", schema: lazily(() => z.boolean()) },
          about: "True to have archived ones too",
        },
      ],
      phrases: [
        tablePhrase(
          "(?:list|show|what are)(?: me)?(?: my| the)? ?(?:active )?projects(?: for client (?<client>.+))?",
          "list my projects",
          (said) => given({ client_id: said("client") }),
        ),
        tablePhrase("how many projects(?: do i have| are there)?", "how many projects do I have"),
      ],
    },
    {
      name: "list_all_projects",
      description: "List all of the person's projects, archived ones too.",
      filters: [],
      always: () => ({ includeArchived: true }),
      phrases: [
        tablePhrase("(?:list|show)(?: me)? all(?: of)?(?: my| the)? projects", "list all projects"),
        tablePhrase(
          "(?:list|show)(?: me)?(?: my| the)? projects(?:,)? (?:including|with)(?: the)? archived(?: ones)?",
          "list my projects including archived ones",
        ),
      ],
    },
  ],
  get: {
    name: "get_project",
    description: "Show one project with its client, state and summary.",
    phrases: [
      tablePhrase(`(?:show|open|describe|get)(?: me)?${PROJECT}`, "show project Website", (said) => project(said)),
    ],
  },
  create: {
    ...{ name: "create_project", verb: "create", done: "created", phrases: createPhrases },
    description: "Propose a new project.",
  },
  update: {
    name: "update_project",
    description:
      "Propose a change of one project: only the arguments you give are changed. Archiving is status archived.",
    phrases: updatePhrases,
  },
  delete: {
    name: "delete_project",
    description: "Propose to delete one project, with its tasks, checkpoints and notes.",
    phrases: [tablePhrase(`(?:delete|remove)${PROJECT}`, "delete project Website", (said) => project(said))],
  },
  restore: "restore_project",
  profile: {
    name: "project",
    description: "Projects: finding, adding, renaming, archiving and deleting them.",
    examples: [
      ...["list my projects", "create a project called Website", "show project Website", "archive project Website"],
      ...["which projects do I have for Acme?", "delete project Website", "rename project Website to Web shop"],
    ],
  },
}
