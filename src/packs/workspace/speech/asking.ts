import { own } from "../../../protocol/own.ts"
import { plannedCall, calling, type Meaning } from "./meaning.ts"
import { listingOthers, listingTasks, projectAt } from "./listing.ts"
import { periodOf } from "./periods.ts"
import { beginsWith, part, type RequestText, toPlainWords, spelled } from "./words.ts"

/** Questions that are always asked in the same words, and what they come to. */
const WHOLE: Readonly<Record<string, Meaning>> = {
  ...same(
    ["what should i do next", "what should i work on", "what should i work on next", "what's next", "what next"],
    {
      calls: [plannedCall("list_tasks", { status: "todo", order_by: "due_date" })],
    },
  ),
  ...same(["what am i working on", "what am i doing", "what is in progress", "what's in progress"], {
    calls: [plannedCall("list_tasks", { status: "in_progress" })],
  }),
  ...same(["what have i done", "what did i finish", "what did i get done", "what is done", "what's done"], {
    calls: [plannedCall("list_tasks", { status: "done" })],
  }),
  ...same(["what is urgent", "what's urgent", "whats urgent", "what is important", "what's important"], {
    calls: [plannedCall("list_tasks", { priority: "high" })],
  }),
  ...same(["what do i have to do", "what is left to do", "what's left to do", "what's left", "what is left", "tasks"], {
    calls: [plannedCall("list_tasks", { status: "todo" })],
  }),
  ...same(
    ["overview", "summary", "give me an overview", "give me a summary", "summarise everything", "summarize everything"],
    {
      calls: [plannedCall("list_projects"), plannedCall("list_tasks", { order_by: "due_date" })],
    },
  ),
  ...same(["what's going on", "whats going on", "what is going on", "show me everything", "show everything"], {
    calls: [plannedCall("list_projects"), plannedCall("list_tasks", { order_by: "due_date" })],
  }),
  ...same(
    ["summarise my day", "summarize my day", "what does my day look like", "how does my day look", "plan my day"],
    {
      calls: [plannedCall("list_tasks_due_today"), plannedCall("list_tasks", { due: "overdue" })],
    },
  ),
  ...same(["projects", "my projects", "which projects do i have", "what projects do i have", "show projects"], {
    calls: [plannedCall("list_projects")],
  }),
  ...same(["notes", "my notes", "which notes do i have", "what notes do i have", "show notes"], {
    calls: [plannedCall("list_notes")],
  }),
  ...same(["clients", "my clients", "who are my clients", "which clients do i have"], {
    calls: [plannedCall("list_clients")],
  }),
}

function same(sayings: readonly string[], meaning: Meaning): Record<string, Meaning> {
  return Object.fromEntries(sayings.map((each) => [each, meaning]))
}

/** What somebody wants to know about what there is. */
export function asking(phrase: RequestText): Meaning | undefined {
  return (
    own(WHOLE, toPlainWords(phrase)) ??
    dueWhen(phrase) ??
    aboutNotes(phrase) ??
    inProject(phrase) ??
    listingTasks(phrase) ??
    listingOthers(phrase)
  )
}

const WHAT_IS = [
  ...[
    "what's",
    "whats",
    "what is",
    "what are",
    "what do i have",
    "what do i have to do",
    "what have i got",
    "what have i got on",
    "anything",
  ],
  ...[
    "is anything",
    "what do i need to do",
    "what must i do",
    "what's on",
    "whats on",
    "what is on",
    "is there anything",
  ],
  ...["what's due", "show me what is", "show me what's", "show what is", "what should i do", "what's on my plate"],
  ...[
    "what's on for",
    "whats on my plate",
    "what is on my plate",
    "what's on my list",
    "what is on my list",
    "how much is",
  ],
  ...[
    "what's on my agenda",
    "what is on my agenda",
    "show me everything that is",
    "show me everything",
    "what things are",
  ],
  ...["what is there to do", "what's there to do", "what comes", "what is coming", "what's coming", "what"],
]

/** `what is due today`, `anything overdue`, `what's on my plate this week` */
function dueWhen(phrase: RequestText): Meaning | undefined {
  const length = beginsWith(phrase, [...WHAT_IS, "show me", "show", "list", "and", "what about", "how about"])
  const period = length > 0 ? periodOf(phrase, length) : periodOf(phrase, 0)
  if (!period || period.end !== phrase.words.length) return undefined
  // A day alone asks for nothing.
  if (length === 0 && !["overdue", "upcoming"].includes(period.means)) return undefined
  return period.means === "today" ? calling("list_tasks_due_today") : calling("list_tasks", { due: period.means })
}

const NOTES_ABOUT = [
  ...["what did i write about", "what did i note about", "what do my notes say about", "search my notes for"],
  ...["search notes for", "search the notes for", "search my notes about", "find my notes about", "find notes about"],
  ...["do i have notes about", "do i have any notes about", "do i have a note about", "do i have notes on"],
  ...["show me my notes about", "show me notes about", "show my notes about", "show notes about", "notes about"],
  ...["find my note about", "find the note about", "find my notes on", "find notes on", "look in my notes for"],
  ...["look through my notes for", "is there a note about", "any notes about", "any notes on", "find a note about"],
  ...["find the note on", "find my note on", "what do i know about", "what have i written about", "my notes on"],
  ...["show me the notes about", "show the notes about", "find notes mentioning", "find notes that mention"],
]

function aboutNotes(phrase: RequestText): Meaning | undefined {
  const length = beginsWith(phrase, NOTES_ABOUT)
  const query = length > 0 ? spelled(part(phrase, length)).replace(/\?$/, "") : ""
  return query === "" ? undefined : calling("search_notes", { query })
}

/** `what is in project Website`, `show me the Website project`, `how is project Website going` */
function inProject(phrase: RequestText): Meaning | undefined {
  const length = beginsWith(phrase, ["what's", "whats", "what is", "what is left", "what's left", "show me what is"])
  const project = length > 0 && toPlainWords(phrase).includes("project") ? projectAt(phrase, length) : undefined
  if (project)
    return {
      calls: [plannedCall("get_project", { project_id: project }), plannedCall("list_tasks", { project_id: project })],
    }
  const shown = beginsWith(phrase, ["show me the", "show the", "show me my", "open the", "open my", "show me", "show"])
  const last = phrase.words.length - 1
  if (shown === 0 || phrase.words[last]?.is !== "project" || last - shown < 1 || last - shown > 4) return undefined
  return calling("get_project", { project_id: spelled(part(phrase, shown, last)) })
}
