import { name, reference, text } from "./kinds.ts"
import { given, tablePhrase, takeEndings, unquote } from "./phrase.ts"
import { inProject } from "./task.ts"
import type { TableSpec } from "./table.ts"

const NOTE = "(?: the| my)? note(?: called| named| titled)? (?<note>.+)"

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
      ...{ argument: "project_id", column: "projectId", kind: reference("projects", "orNone") },
      ...{ create: "optional", label: "project", about: 'A project\'s id or exact name; "none" for no project' },
    },
  ],
  lists: [
    {
      name: "list_notes",
      description: "List the person's notes by title, all of them or those of one project.",
      filters: [inProject],
      phrases: [
        tablePhrase(
          "(?:list|show|what are)(?: me)?(?: all)?(?: of)?(?: my| the)? ?notes(?: (?:in|of|for)(?: the| my)? project (?<project>.+))?",
          "list my notes",
          (said) => given({ project_id: said("project") }),
        ),
        tablePhrase("how many notes(?: do i have| are there)?", "how many notes do I have"),
      ],
    },
  ],
  get: {
    name: "get_note",
    description: "Show one note with its whole content.",
    phrases: [
      tablePhrase(`(?:read|show|open|get)(?: me)?${NOTE}`, "read note Deployment", (said) => ({
        note_id: said("note"),
      })),
    ],
  },
  create: {
    ...{ name: "create_note", verb: "create", done: "created" },
    description: "Propose a new note.",
    phrases: [
      tablePhrase(
        "(?:add|create|write|make|take|new)(?: me)?(?: a| another)?(?: new)? note(?: called| named| titled| about)? (?<title>[^:]+): ?(?<content>.+)",
        "create a note called Deployment: push on Friday",
        (said, quoted) => {
          const { rest, found } = takeEndings(quoted("title"), { project: [" in project ", " for project "] })
          return given({ title: unquote(rest), content: said("content"), project_id: found.project })
        },
      ),
    ],
  },
  update: {
    name: "update_note",
    description:
      "Propose a change of one note: only the arguments you give are changed. content replaces the whole of it: read it first.",
    phrases: [
      tablePhrase(
        "rename(?: the| my)? note (?<note>.+?) to (?<title>.+)",
        "rename note Deployment to Release",
        (said) => ({
          note_id: said("note"),
          title: said("title"),
        }),
      ),
      tablePhrase(
        "(?:change|rewrite|replace)(?: the| my)? note (?<note>[^:]+?)(?: to| with)?: ?(?<content>.+)",
        "change note Deployment: push on Monday",
        (said) => ({
          note_id: said("note"),
          content: said("content"),
        }),
      ),
    ],
  },
  delete: {
    name: "delete_note",
    description: "Propose to delete one note.",
    phrases: [tablePhrase(`(?:delete|remove)${NOTE}`, "delete note Deployment", (said) => ({ note_id: said("note") }))],
  },
  restore: "restore_note",
  profile: {
    name: "note",
    description: "Notes: finding them by title or by meaning, reading, writing, changing and deleting them.",
    examples: [
      ...["list my notes", "find notes about deployment", "read note Deployment", "what did I write about the launch?"],
      ...["create a note called Deployment: push on Friday", "delete note Deployment"],
    ],
  },
}

/** For the tool that finds notes by their meaning. */
export const searchNotesPhrases = [
  tablePhrase(
    "(?:find|search(?: for)?|list|show)(?: me)?(?: my| the| all)? notes (?:about|on|mentioning|containing) (?<words>.+)",
    "find notes about deployment",
    (said) => ({ query: said("words") }),
  ),
  tablePhrase("search(?: in)?(?: my| the)? notes for (?<words>.+)", "search my notes for deployment", (said) => ({
    query: said("words"),
  })),
  tablePhrase("what do my notes say about (?<words>.+)", "what do my notes say about deployment", (said) => ({
    query: said("words"),
  })),
]
