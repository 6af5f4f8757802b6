import { call, type Group, type Phrase, phrase } from "./phrase.ts"
import { capital, taskPhrases } from "./tasks.ts"

const THE = "(?: the| my)?"
const CALLED = "(?:: ?| called | named | titled | )"
const NEW = "(?:add|create|make|start|set up|new)(?: me)?(?: an?| another)?(?: new)?"
const MANY = "(?:list|show|see|view|what are|which are|who are)(?: me)?(?: all)?(?: of)?(?: my| the)? ?"
const HOW_MANY = "(?: do i have| are there)?"
const IN_PROJECT = "(?: (?:in|of|for)(?: the| my)? project (?<project>.+))?"

const project = (group: Group) => ({ project_id: group("project") })

const projects: readonly Phrase[] = [
  phrase(
    "list_all_projects",
    "(?:list|show|see)(?: me)? all(?: of)?(?: my| the)? projects|(?:show |which )?(?:archived projects|projects are archived)",
  ),
  phrase("list_all_projects", `(?:list|show)(?: me)?${THE} projects,? (?:including|with)(?: the)? archived(?: ones)?`),
  phrase("list_projects", `(?:${MANY}|my )?(?:active )?projects(?: for client (?<client>.+))?`, (group) => ({
    client_id: group("client"),
  })),
  phrase("list_projects", `(?:how many|what|which) projects(?:${HOW_MANY}| are active)`),
  phrase("get_project", `(?:show|open|describe|get|tell me about)(?: me)?${THE} project:? (?<project>.+)`, project),
  phrase("get_project", `(?:show|open|describe)(?: me)?${THE} (?<project>[^ ]+(?: [^ ]+){0,3}) project`, project),
  phrase("create_project", `${NEW} project${CALLED}(?<name>.+?)(?: for (?:the )?client (?<client>.+))?`, (group) => ({
    name: capital(group("name")),
    client_id: group("client"),
  })),
  phrase("update_project", `rename${THE} project (?<project>.+?) to (?<name>.+)`, (group) => ({
    ...project(group),
    name: group("name"),
  })),
  ...["archive", "(?:unarchive|reactivate)"].flatMap((verb) => {
    const change = (group: Group) => ({ ...project(group), status: verb === "archive" ? "archived" : "active" })
    return [
      phrase("update_project", `${verb}(?: the| my)? (?<project>.+) project`, change),
      phrase("update_project", `${verb}${THE}(?: project)?:? (?<project>.+)`, change),
    ]
  }),
]

const CHECKPOINT = `${THE} (?:checkpoint|milestone)`
const checkpoint = (group: Group) => ({ checkpoint_id: group("checkpoint") })

const checkpoints: readonly Phrase[] = [
  phrase(
    "list_checkpoints",
    `(?:list|show)(?: me)?(?: all)?${THE} (?:checkpoints|milestones) (?:in|of|for)${THE}(?: project)? (?<project>.+)`,
    project,
  ),
  phrase(
    "create_checkpoint",
    `(?:add|create)(?: a| another)?(?: new)? (?:checkpoint|milestone)${CALLED}(?<title>.+?) on (?<date>.+) (?:in|for|to)${THE}(?: project)? (?<project>.+)`,
    (group) => ({ ...project(group), title: group("title"), date: group("date") }),
  ),
  phrase(
    "create_checkpoint",
    `(?:add|create)(?: a| another)?(?: new)? (?:checkpoint|milestone)${CALLED}(?<title>.+?) (?:in|for|to)${THE}(?: project)? (?<project>.+?),? (?:due on|due|on|by) (?<date>.+)`,
    (group) => ({ ...project(group), title: group("title"), date: group("date") }),
  ),
  phrase("update_checkpoint", `(?:move|postpone)${CHECKPOINT} (?<checkpoint>.+?) to (?<date>.+)`, (group) => ({
    ...checkpoint(group),
    date: group("date"),
  })),
  phrase("update_checkpoint", `rename${CHECKPOINT} (?<checkpoint>.+?) to (?<title>.+)`, (group) => ({
    ...checkpoint(group),
    title: group("title"),
  })),
  phrase("delete_checkpoint", `(?:delete|remove)${CHECKPOINT} (?<checkpoint>.+)`, checkpoint),
]

const NOTE = `${THE} note(?: called| named| titled)? (?<note>.+)`
const note = (group: Group) => ({ note_id: group("note") })
/** How many words of a text become its title if it has none. */
const TITLE_WORDS = 7

const notes: readonly Phrase[] = [
  phrase("list_notes", `(?:${MANY}|my )?notes${IN_PROJECT}`, project),
  phrase("list_notes", `(?:how many|what|which) notes${HOW_MANY}`),
  phrase("get_note", `(?:read|show|open|get)(?: me)?${NOTE}`, note),
  phrase(
    "create_note",
    `(?:add|create|write|make|take|new)(?: me)?(?: a| another)?(?: new)? note(?: called| named| titled| about)? (?<title>[^:]+?)(?: (?:in|for) project (?<project>[^:]+))?: ?(?<content>.+)`,
    (group) => ({ title: group("title"), content: group("content"), ...project(group) }),
  ),
  phrase(
    "create_note",
    "(?:(?:add|make|take|write|create)(?: a)? )?(?:note|memo): (?<text>.+)|(?:note|note down|write down|jot down|remember) that (?<fact>.+)",
    (group) => {
      const content = group("text") || group("fact")
      return { title: capital(content.split(/\s+/, TITLE_WORDS).join(" ")), content }
    },
  ),
  phrase("update_note", `rename${THE} note (?<note>.+?) to (?<title>.+)`, (group) => ({
    ...note(group),
    title: group("title"),
  })),
  phrase(
    "update_note",
    `(?:change|rewrite|replace)${THE} note (?<note>[^:]+?)(?: to| with)?: ?(?<content>.+)`,
    (group) => ({ ...note(group), content: group("content") }),
  ),
  phrase("delete_note", `(?:delete|remove)${NOTE}`, note),
  ...[
    "(?:find|search(?: for)?|list|show)(?: me)?(?: my| the| all)? notes (?:about|on|mentioning|containing) (?<words>.+)",
    "search(?: in)?(?: my| the)? notes for (?<words>.+)|(?:do i have )?(?:any )?notes about (?<about>.+)",
    "what (?:do my notes say|did i write) about (?<words>.+)",
  ].map((source) => phrase("search_notes", source, (group) => ({ query: group("words") || group("about") }))),
]

const CLIENT = `${THE} client:? (?<client>.+)`
const client = (group: Group) => ({ client_id: group("client") })

const clients: readonly Phrase[] = [
  phrase("list_clients", `(?:${MANY}|my )?clients`),
  phrase("list_clients", `(?:how many|what|which) clients${HOW_MANY}`),
  phrase(
    "create_client",
    `${NEW} client${CALLED}(?<name>.+?)(?:,? (?:in the |in )?industry (?<industry>.+))?`,
    (group) => ({
      name: group("name"),
      industry: group("industry"),
    }),
  ),
  phrase("update_client", `rename${THE} client (?<client>.+?) to (?<name>.+)`, (group) => ({
    ...client(group),
    name: group("name"),
  })),
  phrase("delete_client", `(?:delete|remove)${CLIENT}`, client),
]

/** Requests that do not say whether they mean a task, a project or a note: `changes.ts` finds the row. */
const ofAnyKind: readonly Phrase[] = [
  phrase("delete_project", `(?:delete|remove)${THE} project:? (?<project>.+)`, project),
  phrase("update_task", `rename${THE}(?: task)? (?<task>.+?) to (?<title>.+)`, (group) => ({
    task_id: group("task"),
    title: group("title"),
  })),
  phrase(
    "delete_task",
    `(?:delete|remove|get rid of)${THE}(?: task)?(?:: ?| called | named | )(?<task>.+?)(?: task)?`,
    (group) => ({
      task_id: group("task"),
    }),
  ),
  (request) => {
    const said = /^(?:search|look)(?: for)? (?<said>.+)$/is.exec(request)?.groups?.said
    return said ? [call("list_tasks", { search: said }), call("search_notes", { query: said })] : undefined
  },
]

/** Plain requests about tasks, projects, checkpoints, notes and clients. */
export const workspacePhrases: readonly Phrase[] = [
  ...[...checkpoints, ...projects, ...notes, ...clients],
  ...taskPhrases,
  ...ofAnyKind,
]
