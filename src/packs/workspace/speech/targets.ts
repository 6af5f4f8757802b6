import { own } from "../../../protocol/own.ts"
import type { TableName } from "../../../protocol/workspace-tables.ts"
import { beginsWith, endsWith, part, type RequestText, toPlainWords, spelled } from "./words.ts"

/** What a change is about: a name, something that was spoken of, or one of a list by its number. */
export type ChangeTarget =
  | { readonly kind: "named"; readonly name: string; readonly table?: TableName; readonly words: RequestText }
  | { readonly kind: "it"; readonly table?: TableName; readonly all?: true }
  | { readonly kind: "numbered"; readonly numbers: readonly number[] }

const IT = new Set(["it", "that", "this", "that one", "this one", "the one", "the same", "the same one"])
const THEM = new Set(["them", "both", "these", "those", "all of them", "both of them", "them all", "all of these"])
const NOUNS: Readonly<Record<string, TableName>> = {
  ...{ task: "tasks", todo: "tasks", reminder: "tasks", project: "projects", note: "notes", client: "clients" },
  ...{ checkpoint: "checkpoints", milestone: "checkpoints", memo: "notes" },
}
const NUMBERS: Readonly<Record<string, number>> = {
  ...{ first: 1, second: 2, third: 3, fourth: 4, fifth: 5, sixth: 6, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "5th": 5 },
  ...{ last: -1, one: 1, two: 2, three: 3, four: 4, five: 5 },
}
const BEFORE = ["the", "my", "that", "this", "our", "number", "the number", "no", "nr", "option", "task number", "#"]

export function readTarget(phrase: RequestText): ChangeTarget | undefined {
  const said = toPlainWords(phrase).replace(/\?$/, "")
  if (said === "") return undefined
  if (IT.has(said)) return { kind: "it" }
  if (THEM.has(said)) return { kind: "it", all: true }
  const numbers = readNumbers(phrase)
  if (numbers) return { kind: "numbered", numbers }
  return pointed(phrase) ?? named(phrase)
}

/** `that task`, `the project`: one of a kind that was spoken of. */
function pointed(phrase: RequestText): ChangeTarget | undefined {
  const article = beginsWith(phrase, ["the", "that", "this", "my"])
  const table = phrase.words.length === article + 1 ? own(NOUNS, phrase.words[article]?.is ?? "") : undefined
  return table && article > 0 ? { kind: "it", table } : undefined
}

function named(phrase: RequestText): ChangeTarget | undefined {
  const articles = beginsWith(phrase, ["the", "my", "that", "this", "our"])
  const rest = part(phrase, articles)
  const table = own(NOUNS, rest.words[0]?.is ?? "")
  if (table && rest.words.length > 1) {
    const called = beginsWith(part(rest, 1), ["called", "named", "titled", "about", "to", "-"])
    return toNamed(part(rest, 1 + called), table)
  }
  const last = own(NOUNS, rest.words.at(-1)?.is ?? "")
  if (last && rest.words.length > 1) return toNamed(part(rest, 0, rest.words.length - 1), last)
  // An article may be a part of the name: it is looked for with it first, and without it then.
  return toNamed(phrase, undefined)
}

function toNamed(words: RequestText, table: TableName | undefined): ChangeTarget | undefined {
  const name = spelled(words).replace(/\?$/, "")
  return name === "" ? undefined : { kind: "named", name, words, ...(table ? { table } : {}) }
}

/** `the second`, `number 2`, `2`, `the first and the third one`, `the last task`. */
export function readNumbers(phrase: RequestText): number[] | undefined {
  const numbers: number[] = []
  for (const piece of pieces(phrase)) {
    const head = part(piece, beginsWith(piece, BEFORE))
    const rest = part(head, 0, head.words.length - Math.min(head.words.length - 1, endsWith(head, ENDS)))
    const said = (rest.words[0]?.is ?? "").replace(/^#/, "").replace(/[).]$/, "")
    const number = /^\d{1,2}$/.test(said) ? Number(said) : own(NUMBERS, said)
    if (rest.words.length !== 1 || number === undefined || number === 0) return undefined
    numbers.push(number)
  }
  return numbers.length > 0 ? numbers : undefined
}

const ENDS = ["one", "task", "project", "note", "option", "ones", "please"]

function pieces(phrase: RequestText): RequestText[] {
  const found: RequestText[] = []
  let from = 0
  phrase.words.forEach(({ is, stop }, at) => {
    if (is !== "and" && stop !== ",") return
    const to = is === "and" ? at : at + 1
    if (to > from) found.push(part(phrase, from, to))
    from = at + 1
  })
  if (from < phrase.words.length) found.push(part(phrase, from))
  return found
}
