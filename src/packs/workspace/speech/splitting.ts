import { part, type RequestText, type Word } from "./words.ts"

/** Whether words with an `and` between them are one thing to do or several. */
export interface Split {
  readonly parts: readonly RequestText[]
  readonly sure: boolean
}

const JOINING = new Set(["and", "then", "plus", "&"])
/** What people do, and what is nothing else. */
const VERBS = new Set([
  ...["buy", "call", "pay", "write", "send", "clean", "wash", "read", "cook", "bake", "repair", "finish", "prepare"],
  ...["pick", "drop", "get", "do", "go", "visit", "meet", "ask", "tell", "phone", "bring", "renew", "cancel", "find"],
  ...["feed", "learn", "study", "submit", "install", "remove", "update", "organise", "organize", "sell", "return"],
  ...["collect", "fetch", "mow", "vacuum", "invite", "reply", "sign", "upload", "download", "build", "tidy", "pack"],
  ...["unpack", "arrange", "replace", "mend", "hang", "talk", "speak", "contact", "confirm", "create", "deploy"],
  ...["publish", "draft", "discuss", "eat", "practise", "practice", "attend", "apply", "register", "sort", "throw"],
  ...["defrost", "make", "take", "give", "put", "set", "start", "look", "research", "fill", "hire", "choose", "try"],
])
/** What may be something to do, and may be a thing. */
const EITHER = new Set([
  ...["book", "water", "order", "plan", "email", "e-mail", "text", "mail", "message", "check", "test", "review"],
  ...["paint", "iron", "walk", "post", "print", "file", "run", "cut", "fix", "move", "change", "charge", "drink"],
  ...["plant", "dress", "park", "light", "play", "work", "ring", "report", "schedule", "design", "record", "back"],
])
const ARTICLES = new Set(["the", "a", "an", "my", "our", "your", "his", "her", "some", "this", "that", "these", "all"])
const THINGS = new Set([...ARTICLES, "other", "more", "for", "with", "without", "of", "in", "from", "at", "to"])
const BACK = new Set(["it", "them", "there", "him", "her", "one"])

/** Whether a request begins with something to do. */
export const isToDo = ({ words }: RequestText): boolean => {
  const first = words[0]?.is ?? ""
  return words.length > 1 && (VERBS.has(first) || EITHER.has(first))
}

/**
 * Parts that are each something to do are several; bread and butter are one. Where neither is plain it is not sure, and
 * the parts are what it would come to.
 */
export function split(phrase: RequestText): Split {
  const pieces = piecesOf(phrase)
  const [first, ...others] = pieces
  if (!first || others.length === 0) return { parts: [phrase], sure: true }
  const kinds = others.map(kindOf)
  if (kinds.every((kind) => kind === "thing")) return { parts: [phrase], sure: true }
  // `wash and dry the dishes`: the dishes are what is washed, too.
  if (first.words.length === 1) return { parts: [phrase], sure: VERBS.has(first.words[0]?.is ?? "") }
  const sure = isToDo(first) && kinds.every((kind) => kind === "to do")
  return { parts: grouped(phrase, pieces, kinds), sure }
}

function piecesOf(phrase: RequestText): RequestText[] {
  const pieces: RequestText[] = []
  let from = 0
  const { words } = phrase
  for (let at = 0; at <= words.length; at++) {
    const word = words[at]
    const ends = word === undefined || JOINING.has(word.is)
    const stops = word !== undefined && (word.stop === "," || word.stop === ";")
    if (!ends && !stops) continue
    const to = ends ? at : at + 1
    if (to > from) pieces.push(part(phrase, from, to))
    from = at + 1
  }
  return pieces
}

function kindOf(piece: RequestText): "to do" | "thing" | "either" {
  const [first, second] = piece.words as readonly (Word | undefined)[]
  const said = first?.is ?? ""
  if (!first || said === "" || THINGS.has(said) || /^\d/.test(said)) return "thing"
  const isVerb = VERBS.has(said) || (EITHER.has(said) && ARTICLES.has(second?.is ?? ""))
  if (piece.words.length === 1) return isVerb ? "either" : "thing"
  if (piece.words.some(({ is }) => BACK.has(is))) return "either"
  if (isVerb) return "to do"
  // A name of somebody: `call Ada and Bob Miller`.
  return /^\p{Lu}/u.test(first.text) && !EITHER.has(said) ? "thing" : "either"
}

/** Things go with what is done with them: `buy milk, bread | call mum`. */
function grouped(phrase: RequestText, pieces: readonly RequestText[], kinds: readonly string[]): RequestText[] {
  const parts: RequestText[] = []
  let from = pieces[0]?.words[0]?.at ?? 0
  pieces.forEach((piece, index) => {
    const next = kinds[index]
    if (next === "thing") return
    const end = piece.words.at(-1)?.end ?? from
    parts.push({ text: phrase.text, words: phrase.words.filter(({ at }) => at >= from && at < end) })
    from = pieces[index + 1]?.words[0]?.at ?? end
  })
  return parts
}
