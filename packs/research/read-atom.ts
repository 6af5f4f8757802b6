import { mendText, own } from "../../core/pack.ts"
import { parseMarkup } from "./html/parse-markup.ts"

export interface AtomEntry {
  readonly id: string
  readonly title: string
  readonly summary: string
  readonly date: string
  readonly authors: readonly string[]
}

const FIELDS = { id: "id", title: "title", summary: "summary", published: "date" } as const

/** The longest address that is searched for a number, because the search takes quadratic time. */
const MAX_ADDRESS = 200

/** The entries of arXiv's feed. An entry without a number and an abstract is left out. */
export function readAtom(xml: string): AtomEntry[] {
  const entries: { id: string; title: string; summary: string; date: string; authors: string[] }[] = []
  let field: (typeof FIELDS)[keyof typeof FIELDS] | "author" | undefined
  let open = false
  parseMarkup(
    xml,
    {
      open(name) {
        if (name === "entry") {
          open = true
          entries.push({ id: "", title: "", summary: "", date: "", authors: [] })
        } else if (open) {
          field = name === "name" ? "author" : own<(typeof FIELDS)[keyof typeof FIELDS]>(FIELDS, name)
          if (field === "author") entries.at(-1)!.authors.push("")
        }
      },
      text(text) {
        const entry = entries.at(-1)
        if (!entry || !field) return
        if (field === "author") entry.authors.push(entry.authors.pop() + text)
        else entry[field] += text
      },
      close(name) {
        field = undefined
        if (name === "entry") open = false
      },
    },
    true,
  )
  return entries.flatMap(({ id, title, summary, date, authors }) => {
    const number = /arxiv\.org\/abs\/([\w.\/-]+?)(?:v\d+)?$/.exec(id.trim().slice(0, MAX_ADDRESS))?.[1]
    if (!number || summary.trim() === "") return []
    const names = authors.map(inOneLine).filter((name) => name !== "")
    return [
      {
        id: number,
        title: inOneLine(title),
        summary: inOneLine(summary),
        date: date.trim().slice(0, 10),
        authors: names,
      },
    ]
  })
}

const inOneLine = (text: string) => mendText(text).replaceAll(/\s+/g, " ").trim()
