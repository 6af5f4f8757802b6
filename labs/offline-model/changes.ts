import type { CallResult, HistoryMessage } from "../../core/index.ts"
import { own } from "../../core/shared/text/json.ts"
import { call, type PlannedCall } from "./phrase.ts"

/** The result of parsing a request: calls, or text to reply with. */
export type Meaning = { readonly calls: readonly PlannedCall[] } | { readonly says: string }

type History = readonly HistoryMessage[]

/** A row that the result of a tool names. */
interface NamedRow {
  readonly noun: string
  readonly id: string
  readonly title: string
}

const CHANGE = /^(?<action>update|delete)_(?<noun>task|project|note|client|checkpoint)$/
const IT = /^(?:it|that|this|that one|this one|(?:the|that|this) (?:task|project|note))$/i
const AGREES = /^(?:yes|yeah|yep|ok|okay|sure|do it|go ahead|confirm|approve|yes,? please|sounds good)[.!]?$/i
const MAX_OFFERED = 5

/** `complete it`: the row that the previous results name. Undefined if the call names its row by words. */
export function resolveIt(planned: PlannedCall, before: History, request: string): Meaning | undefined {
  const said = target(planned)
  if (!said || !IT.test(said.name)) return undefined
  const rows = lastRows(before).filter(({ noun }) => noun === said.noun || isOfAnyKind(planned))
  const [row] = rows
  if (!row) return { says: "I do not know which one you mean. Say its name." }
  return rows.length === 1 ? { calls: [onRow(planned, row)] } : which(rows, request, said.name)
}

/**
 * `complete the dentist`: if no row has exactly this name, the rows whose name contains it are looked up, and the only
 * one is changed. `since` are the results of this run.
 */
export function resolveName(planned: PlannedCall, since: readonly CallResult[], request: string): Meaning | undefined {
  const said = target(planned)
  const last = since.at(-1)
  if (!said || !last) return undefined
  if (last.name === planned.name && isMissing(last, said.noun)) {
    const isSure = !isOfAnyKind(planned) || new RegExp(`\\b${said.noun}\\b`, "i").test(request)
    const looks = isSure ? [own(LOOKS, said.noun)] : [LOOKS.task, LOOKS.project, LOOKS.note]
    const calls = looks.flatMap((look) => look?.(said.name) ?? [])
    return calls.length > 0 ? { calls } : undefined
  }
  if (!last.name.startsWith("list_")) return undefined
  const name = said.name.toLowerCase()
  const found = since.flatMap(rowsIn).filter(({ title }) => title.toLowerCase().includes(name))
  const exact = found.filter(({ title }) => title.toLowerCase() === name)
  const rows = exact.length > 0 ? exact : found
  if (rows.length > 1) return which(rows, request, said.name)
  if (rows[0]) return { calls: [onRow(planned, rows[0])] }
  const kind = isOfAnyKind(planned) ? "task, project or note" : said.noun
  return { says: `Nothing was changed, because the name of no ${kind} contains "${said.name}".` }
}

const IN_PROJECT = "(?:to|in|into|under|for) (?:the |my )?"
const MAX_PROJECT_WORDS = 4

/**
 * Whether the end of a new task's title may name a project, so that the projects have to be read first: `Paint to Garden`
 * is a title, or the task `Paint` of the project `Garden`.
 */
export function mayNameProject({ name, input }: PlannedCall, request: string): boolean {
  const { title, project_id } = input
  if (name !== "create_task" || typeof title !== "string" || project_id !== undefined) return false
  // A title in quotes is one.
  if (new RegExp(`["“'‘]${RegExp.escape(title)}["”'’]`, "i").test(request)) return false
  return new RegExp(` ${IN_PROJECT}\\S`, "i").test(title) || isAllAfterTask(title, request)
}

/** `add a task to Garden`: nothing but the name that follows. */
const isAllAfterTask = (title: string, request: string) =>
  title.split(" ").length <= MAX_PROJECT_WORDS &&
  new RegExp(`\\b(?:task|to-?do|reminder) ${IN_PROJECT}${RegExp.escape(title)}\\b`, "i").test(request)

/** A new task in the project that its title ends with, if there is one of that name. `since` are the results of this run. */
export function resolveProject(
  planned: PlannedCall,
  since: readonly CallResult[],
  request: string,
): Meaning | undefined {
  if (since.length !== 1 || since[0]!.name !== LIST_PROJECTS.name || !mayNameProject(planned, request)) return undefined
  const title = String(planned.input.title)
  const projects = rowsIn(since[0]!).toSorted((a, b) => b.title.length - a.title.length)
  for (const project of projects) {
    const name = RegExp.escape(project.title)
    const before = new RegExp(`^(?<task>.+?),? ${IN_PROJECT}${name}(?: project)?$`, "isu").exec(title)?.groups?.task
    if (before) return { calls: [call(planned.name, { ...planned.input, title: before, project_id: project.id })] }
    if (title.toLowerCase() === project.title.toLowerCase())
      return {
        says: `What shall the task be called? Say it like: add a task Buy milk to the ${project.title} project.`,
      }
  }
  return { calls: [planned] }
}

/** `yes`, typed instead of a click: the changes that the message superseded are proposed again. */
export function repeatSuperseded(request: string, before: History): Meaning | undefined {
  if (!AGREES.test(request)) return undefined
  const turns = before.slice(lastUserTurn(before))
  const left = resultsIn(turns).filter(({ status }) => status === "superseded")
  const calls = turns.flatMap((turn) =>
    turn.role === "assistant"
      ? turn.parts.flatMap((part) =>
          part.type === "call" && left.some(({ callId }) => callId === part.id)
            ? [call(part.name, part.input as Record<string, unknown>)]
            : [],
        )
      : [],
  )
  return calls.length > 0 ? { calls } : undefined
}

/** The results of these turns. */
export const resultsIn = (turns: History): CallResult[] =>
  turns.flatMap((turn) => (turn.role === "tool" ? turn.results : []))

export const LIST_PROJECTS: PlannedCall = call("list_all_projects")

const LOOKS: Readonly<Record<string, (name: string) => PlannedCall>> = {
  task: (search) => call("list_tasks", { search }),
  project: () => LIST_PROJECTS,
  note: () => call("list_notes"),
  client: () => call("list_clients"),
}

/** A task alone has a due date or a priority; anything can be deleted or renamed. */
const isOfAnyKind = ({ name, input }: PlannedCall) =>
  name === "delete_task" || (name === "update_task" && "title" in input)

function target({ name, input }: PlannedCall): { noun: string; name: string } | undefined {
  const { noun = "" } = CHANGE.exec(name)?.groups ?? {}
  const named = input[`${noun}_id`]
  return typeof named === "string" ? { noun, name: named } : undefined
}

/** The same change of another row, which may be of another kind. */
function onRow({ name, input }: PlannedCall, row: NamedRow): PlannedCall {
  const { action = "", noun = "" } = CHANGE.exec(name)?.groups ?? {}
  const { [`${noun}_id`]: _, title, ...rest } = input
  const renamed = title === undefined ? {} : { [/project|client/.test(row.noun) ? "name" : "title"]: title }
  return call(`${action}_${row.noun}`, { [`${row.noun}_id`]: row.id, ...rest, ...renamed })
}

const isMissing = ({ status, text }: CallResult, noun: string) =>
  status === "error" && (text.includes(`There is no ${noun} `) || text.includes(' are called "'))

function which(rows: readonly NamedRow[], request: string, name: string): Meaning {
  // The id tells rows of the same name apart.
  const toName = ({ title, id }: NamedRow) =>
    rows.filter((other) => other.title === title).length > 1 ? id : title.replaceAll("`", "'")
  const offered = rows.slice(0, MAX_OFFERED).map((row) => `- \`${request.replace(name, () => toName(row))}\``)
  return { says: `Which one do you mean?\n\n${offered.join("\n")}` }
}

const lastUserTurn = (turns: History) => turns.findLastIndex((turn) => turn.role === "user" && !turn.isNote)

/** The rows that the newest results name, of the last few requests that had any. */
function lastRows(before: History): NamedRow[] {
  const isWrite = ({ name }: CallResult) => /^(?:create|update|restore)_/.test(name)
  for (let [turns, tries] = [before, 0]; tries < 3; tries++) {
    const at = lastUserTurn(turns)
    if (at < 0) break
    const results = resultsIn(turns.slice(at)).filter(({ status }) => status === "ok")
    const writes = results.filter(isWrite)
    const rows = (writes.length > 0 ? writes : results)
      .filter(({ name }) => !name.startsWith("delete_"))
      .flatMap(rowsIn)
    if (rows.length > 0) return rows
    turns = turns.slice(0, at)
  }
  return []
}

const KIND = /_(?<noun>task|project|note|client|checkpoint)s?(?:_due_today)?$/
const DONE = /^[A-Z][a-z]+ (?:created|updated|put back): /
/** The id stands last in a line, where no title reaches. */
const ID = /\bid: (?<id>[^\s,()]+)\)\.?$/
/** The text that ends a title. */
const TRAITS = / \((?:status|project|client|industry|part of|date|id): /

function rowsIn({ name, text }: CallResult): NamedRow[] {
  const noun = KIND.exec(name)?.groups?.noun
  if (!noun) return []
  return text.split("\n").flatMap((line) => {
    const told = line.startsWith("- ") ? line.slice(2) : line.replace(DONE, "")
    const id = told === line ? undefined : ID.exec(told.slice(-200))?.groups?.id
    const end = told.search(TRAITS)
    return id === undefined || end < 1 ? [] : [{ noun, id, title: told.slice(0, end) }]
  })
}
