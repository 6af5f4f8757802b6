import { part, type RequestText, SOMETHING, spelled } from "./words.ts"

const LINKS = new Set(["called", "named", "titled", "saying", "says", "to", "that", "-", "–", ":", "about"])
const INTO = new Set(["in", "to", "for", "under", "into", "on", "within", "of"])
const ARTICLES = new Set(["the", "my", "our", "a"])
const LONGEST_PROJECT = 6

/** A name as people write one: what was said, with a capital at its beginning. */
export function toTitle(phrase: RequestText): string {
  return capitalTitle(spelled(withoutLinks(phrase)).replace(/^[-–:,;\s]+/, ""))
}

/** What was said, without the words that only lead to it: `called`, `:`. */
export function withoutLinks(phrase: RequestText): RequestText {
  let rest = phrase
  while (rest.words.length > 1 && LINKS.has(rest.words[0]?.is || rest.words[0]?.text || "")) rest = part(rest, 1)
  return rest
}

/** Names that have their own capitals, such as iPhone, and addresses keep them. */
export function capitalTitle(text: string): string {
  const [first = ""] = text.split(" ", 1)
  return /[A-Z./@:\d]/.test(first.slice(1)) ? text : text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** Takes the project off the end of a phrase: `in project Website`, `to the Website project`. */
export function takeProject(phrase: RequestText): { rest: RequestText; project?: string } {
  const { words } = phrase
  const named = words.findLastIndex(({ is }) => is === "project")
  if (named < 0) return { rest: phrase }
  if (named === words.length - 1) return beforeNoun(phrase, named)
  let from = named - 1
  if (ARTICLES.has(words[from]?.is ?? "")) from--
  if (from < 1 || !INTO.has(words[from]?.is ?? "") || words.length - named > LONGEST_PROJECT + 1)
    return { rest: phrase }
  const called = ["called", "named"].includes(words[named + 1]?.is ?? "") ? 1 : 0
  return { rest: part(phrase, 0, from), project: spelled(part(phrase, named + 1 + called)) }
}

/** The same where nothing stands before it: `to the Website project: …`. */
export function takeProjectFirst(phrase: RequestText): { rest: RequestText; project?: string } {
  const { rest, project } = takeProject({ ...phrase, words: [SOMETHING, ...phrase.words] })
  return project === undefined ? { rest: phrase } : { rest: part(rest, 1), project }
}

/** `… to the Website project`. */
function beforeNoun(phrase: RequestText, noun: number): { rest: RequestText; project?: string } {
  const { words } = phrase
  for (let from = noun - 2; from >= 1 && noun - from <= LONGEST_PROJECT; from--) {
    if (!INTO.has(words[from]?.is ?? "")) continue
    const first = ARTICLES.has(words[from + 1]?.is ?? "") ? from + 2 : from + 1
    if (first >= noun) return { rest: phrase }
    return { rest: part(phrase, 0, from), project: spelled(part(phrase, first, noun)) }
  }
  return { rest: phrase }
}
