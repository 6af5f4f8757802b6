import type { CallResult } from "../../../agent/model.ts"
import type { PlannedCall } from "../../../agent/definition/phrases.ts"
import type { TableName } from "../../../protocol/workspace-tables.ts"
import type { SpokenChange } from "./changes.ts"
import { plannedCall, type Meaning, inWords } from "./meaning.ts"
import { type Mentioned, type MentionedRow, rowsIn } from "./mentioned.ts"
import { part, type RequestText, spelled } from "./words.ts"

const NOUNS: Readonly<Record<TableName, string>> = {
  ...{ tasks: "task", projects: "project", notes: "note", clients: "client", checkpoints: "checkpoint" },
  taskComments: "comment",
}
/** How the rows of a table are looked for by a part of their name. */
const LOOKS: Partial<Record<TableName, (words: string) => PlannedCall>> = {
  tasks: (search) => plannedCall("list_tasks", { search }),
  projects: () => plannedCall("list_all_projects"),
  notes: () => plannedCall("list_notes"),
  clients: () => plannedCall("list_clients"),
}
const ANYWHERE: readonly TableName[] = ["tasks", "projects", "notes"]
const MAX_OPTIONS = 8
const MAX_AT_ONCE = 10

/** The call that makes a change of one row. */
export function changeOf(
  { action, updates }: SpokenChange,
  { table, id }: Pick<MentionedRow, "table" | "id">,
): PlannedCall {
  const noun = NOUNS[table]
  const named =
    "name" in updates ? { [table === "projects" || table === "clients" ? "name" : "title"]: updates.name } : updates
  return plannedCall(`${action}_${noun}`, { [`${noun}_id`]: id, ...named })
}

/** What was spoken of: `it`, `the second`. */
export function resolvePointing(change: SpokenChange, { rows, drafts }: Mentioned): Meaning {
  const { target } = change
  const table = change.table ?? (target.kind === "it" ? target.table : undefined)
  const fitting = rows.filter((row) => table === undefined || row.table === table)
  if (target.kind === "numbered") {
    const chosen = target.numbers.map((number) => (number < 0 ? fitting.at(number) : fitting[number - 1]))
    if (fitting.length === 0) return inWords("There is no list that I could count in. Say its name.")
    if (chosen.some((row) => !row)) return inWords(`There are only ${fitting.length} of them. Which one do you mean?`)
    return { calls: chosen.map((row) => changeOf(change, row as MentionedRow)) }
  }
  if (fitting.length === 0) return fromDrafts(change, drafts)
  const all = target.kind === "it" && target.all
  if (all && fitting.length > MAX_AT_ONCE)
    return inWords(`That is more than I propose at once: there are ${fitting.length}.`)
  if (all || fitting.length === 1) return { calls: fitting.map((row) => changeOf(change, row)) }
  return whichOf(change, fitting)
}

/** What nobody has agreed to yet is proposed anew, changed. */
function fromDrafts(change: SpokenChange, drafts: readonly PlannedCall[]): Meaning {
  const open = drafts.filter(({ name }) => !name.startsWith("delete_"))
  if (open.length === 0 || change.action === "delete") {
    const left = drafts.length > 0 && change.action === "delete"
    return inWords(
      left ? "Nothing was changed, so there is nothing to delete." : "I do not know which one you mean. Say its name.",
    )
  }
  const all = change.target.kind === "it" && change.target.all
  if (open.length > 1 && !all) return inWords("There was more than one of them. Say it again with its name.")
  return { calls: open.map(({ name, input }) => plannedCall(name, { ...input, ...ofDraft(name, change) })) }
}

const ofDraft = (tool: string, { updates }: SpokenChange) =>
  "name" in updates ? { [/project|client/.test(tool) ? "name" : "title"]: updates.name } : updates

/**
 * A row that was named. An exact name is told to the tool at once; where there is none, rows whose name has these words
 * in it are looked for: one is meant, several are asked about. `since`: what has been answered in this run.
 */
export function resolveName(
  change: SpokenChange,
  since: readonly CallResult[],
  how?: "by looking",
): Meaning | undefined {
  const { target, action } = change
  if (target.kind !== "named") return undefined
  const table = change.table ?? target.table
  const looked = since.filter(({ name, status }) => status === "ok" && /^list_/.test(name))
  if (table && looked.length === 0 && !how) {
    const tool = `${action}_${NOUNS[table]}`
    const tried = since.findLast(({ name }) => name === tool)
    if (!tried) return { calls: [changeOf(change, { table, id: target.name })] }
    const look = LOOKS[table]
    // Whatever else is wrong the tool says itself.
    if (tried.status !== "error" || !isMissing(tried.text, table) || !look) return undefined
    return { calls: [...new Set(searches(target.words))].map(look).slice(0, table === "tasks" ? 4 : 1) }
  }
  const places = table ? [table] : ANYWHERE
  if (looked.length === 0) return { calls: places.flatMap((each) => LOOKS[each]?.(spelled(bare(target.words))) ?? []) }
  // What came of the row that was found, the tool has said.
  const last = since.findLastIndex(({ name }) => /^list_/.test(name))
  if (since.slice(last + 1).some(({ name }) => name.startsWith(`${action}_`))) return undefined
  return among(change, table, looked.flatMap(rowsIn))
}

const isMissing = (text: string, table: TableName) =>
  text.includes(`There is no ${NOUNS[table]} `) || / are called "/.test(text)

/** Its name without articles, and the two names of `A and B`. */
function searches(words: RequestText): string[] {
  const and = words.words.findIndex(({ is }) => is === "and")
  const parts = and > 0 ? [part(words, 0, and), part(words, and + 1)] : []
  return [words, ...parts].map((each) => spelled(bare(each))).filter(Boolean)
}

const ARTICLES = new Set(["the", "my", "our", "a", "an", "to"])
const bare = (phrase: RequestText): RequestText => {
  let from = 0
  while (from < phrase.words.length - 1 && ARTICLES.has(phrase.words[from]?.is ?? "")) from++
  return part(phrase, from)
}

function among(change: SpokenChange, table: TableName | undefined, rows: readonly MentionedRow[]): Meaning {
  const { target } = change
  if (target.kind !== "named") return inWords("I do not know which one you mean.")
  const unique = [...new Map(rows.map((row) => [row.id, row])).values()]
  const names = searches(target.words)
  const fits = (said: string) => {
    const [whole, name] = [target.name.toLowerCase(), said.toLowerCase()]
    const exact = unique.filter(({ title }) => [whole, name].includes(title.toLowerCase()))
    return exact.length > 0 ? exact : unique.filter(({ title }) => title.toLowerCase().includes(name))
  }
  const [whole = "", ...parts] = names
  const found = fits(whole)
  if (found.length === 1) return { calls: [changeOf(change, found[0] as MentionedRow)] }
  if (found.length > 1) return whichOf(change, found)
  const each = parts.map(fits)
  if (each.length > 0 && each.every((one) => one.length === 1))
    return { calls: each.map(([row]) => changeOf(change, row as MentionedRow)) }
  const kind = table ? NOUNS[table] : "task, project or note"
  return inWords(`I find no ${kind} whose name has "${whole}" in it, and have changed nothing.`)
}

function whichOf(change: SpokenChange, rows: readonly MentionedRow[]): Meaning {
  const shown = rows.slice(0, MAX_OPTIONS)
  const more = rows.length > shown.length ? ` There are ${rows.length - shown.length} more.` : ""
  return {
    asks: `Which one do you mean?${more}`,
    options: shown.map((row) => ({
      label: `${NOUNS[row.table]} "${row.title}"`,
      calls: [changeOf(change, row)],
      words: [row.title.toLowerCase()],
    })),
  }
}
