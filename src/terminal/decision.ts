import type { Proposal } from "../protocol/proposal.ts"

/** What a person's words about waiting changes mean. `message`: they are words for the model, and nothing is decided by them. */
export type Decision =
  | { readonly type: "yes" | "no" | "all" | "none"; readonly proposals: readonly Proposal[]; readonly reason?: string }
  | { readonly type: "edit"; readonly proposal: Proposal }
  | { readonly type: "resolve"; readonly proposal: Proposal; readonly choice: "retry" | "done" | "abandon" }
  | { readonly type: "unclear"; readonly says: string }
  | { readonly type: "message" }

const WORDS: Readonly<Record<string, "yes" | "no" | "edit" | "all" | "none">> = {
  "": "no",
  n: "no",
  no: "no",
  y: "yes",
  yes: "yes",
  e: "edit",
  edit: "edit",
  a: "all",
  all: "all",
  none: "none",
}

/**
 * Reads an answer: a word, or a word and which one of several. Nothing at all is `no`, and everything that is not exactly an
 * answer is a message: no sentence, however it begins, agrees to anything.
 */
export function readDecision(text: string, waiting: readonly Proposal[]): Decision {
  const found = /^([a-z]*)(?:\s+(\d+))?$/i.exec(text.trim())
  const word = found?.[1]?.toLowerCase()
  const doubtful = waiting.filter(({ status }) => status === "in_doubt")
  const open = waiting.filter(({ status }) => status === "pending")
  const place = found?.[2] === undefined ? undefined : Number(found[2])
  const picked = place === undefined ? undefined : waiting[place - 1]
  if (word === undefined) return { type: "message" }
  if (word === "retry" || word === "done" || word === "abandon") {
    const proposal = picked ?? doubtful[0]
    if (proposal?.status !== "in_doubt") return { type: "message" }
    return { type: "resolve", proposal, choice: word }
  }
  const answer = Object.hasOwn(WORDS, word) ? WORDS[word] : undefined
  if (answer === undefined) return { type: "message" }
  if (place !== undefined && !picked) return { type: "unclear", says: `There are ${waiting.length} to decide.` }
  if (open.length === 0 || (picked && picked.status !== "pending"))
    return { type: "unclear", says: "Say retry, done or abandon: what became of it?" }
  if (answer === "edit") {
    const proposal = picked ?? open[0]
    if (proposal?.status !== "pending") return { type: "unclear", says: "This one cannot be changed any more." }
    if (!picked && open.length > 1) return { type: "unclear", says: `Which one? edit 1 to edit ${open.length}.` }
    return { type: "edit", proposal }
  }
  if (answer === "all" || answer === "none") return { type: answer, proposals: open }
  return { type: answer, proposals: picked ? [picked] : open }
}

/** The question under what waits. */
export function questionOf(waiting: readonly Proposal[]): string {
  if (waiting.every(({ status }) => status === "in_doubt")) return "retry / done / abandon"
  return waiting.length > 1 ? "[no] / yes / edit N / none / all" : "[no] / yes / edit / none / all"
}
