import { name, reference, text } from "./kinds.ts"
import { inProject } from "./task.ts"
import type { TableSpec } from "./table.ts"

export const noteTable: TableSpec = {
  name: "notes",
  plural: "notes",
  argument: "note_id",
  body: "content",
  unlisted: ["content"],
  fields: [
    { argument: "title", column: "title", kind: name(), create: "required" },
    { argument: "content", column: "content", kind: text(), create: "required", about: "Markdown, the whole of it" },
    {
      ...{ argument: "project_id", column: "projectId", kind: reference("projects", { optional: true }) },
      ...{ create: "optional", label: "project", about: 'A project\'s id or exact name; "none" for no project' },
    },
  ],
  lists: [
    {
      name: "list_notes",
      description: "List the person's notes by title, all of them or those of one project.",
      filters: [inProject],
      examples: ["list my notes", "how many notes do I have"],
    },
  ],
  get: {
    name: "get_note",
    description: "Show one note with its whole content.",
    examples: ["read note Deployment"],
  },
  create: {
    ...{ name: "create_note", verb: "create", done: "created" },
    description: "Propose a new note.",
    examples: ["create a note called Deployment: push on Friday"],
  },
  update: {
    name: "update_note",
    description:
      "Propose a change of one note: only the arguments you pass are changed. content replaces the whole text, so read it first.",
    examples: ["rename note Deployment to Release", "change note Deployment: push on Monday"],
  },
  delete: {
    name: "delete_note",
    description: "Propose to delete one note.",
    examples: ["delete note Deployment"],
  },
  restore: "restore_note",
  profile: {
    name: "note",
    description: "Notes: finding them by title or by meaning, reading, writing, changing and deleting them.",
  },
}
