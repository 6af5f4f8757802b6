import { duration } from "../../client/words.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { own } from "../../protocol/own.ts"

/** What a person's words about waiting changes mean. `message`: they are words for the model, and nothing is decided by them. */
export type TypedDecision =
  | { readonly type: "yes" | "no" | "all" | "none"; readonly proposals: readonly Proposal[] }
  /** Yes, and to the next ones of its tool. */
  | { readonly type: "always"; readonly proposal: Proposal }
  | { readonly type: "edit"; readonly proposal: Proposal }
  | { readonly type: "resolve"; readonly proposal: Proposal; readonly choice: "retry" | "done" | "abandon" }
  /** Nobody may decide it any more: the conversation goes on without it. */
  | { readonly type: "go-on" }
  /** Nobody may decide it any more: it is proposed anew. */
  | { readonly type: "again"; readonly proposals: readonly Proposal[] }
  | { readonly type: "unclear"; readonly says: string }
  | { readonly type: "message" }

const WORDS: Readonly<Record<string, "yes" | "no" | "always" | "edit" | "all" | "none">> = {
  "": "no",
  n: "no",
  no: "no",
  y: "yes",
  yes: "yes",
  always: "always",
  e: "edit",
  edit: "edit",
  a: "all",
  all: "all",
  none: "none",
}

const EXPIRED = "It has expired, and nothing is done."
const WITHOUT = `${EXPIRED} Enter goes on without it; again proposes it once more.`
const LAST_MS = 120_000

/** Which time it is here, and what the server has said of single proposals, by id: its clock is the one that counts. */
export interface Time {
  readonly now: number
  readonly said: ReadonlyMap<string, "expired" | "open">
}

/**
 * Reads an answer: a word, or a word and which one of several. Nothing at all is `no`, and everything that is not exactly an
 * answer is a message: no sentence, however it begins, agrees to anything. What has expired is decided by no word.
 */
export function readDecision(text: string, waiting: readonly Proposal[], time: Time): TypedDecision {
  const found = /^([a-z]*)(?:\s+(\d+))?$/i.exec(text.trim())
  const word = found?.[1]?.toLowerCase()
  const place = found?.[2] === undefined ? undefined : Number(found[2])
  const picked = place === undefined ? undefined : waiting[place - 1]
  if (word === undefined) return { type: "message" }
  if (word === "retry" || word === "done" || word === "abandon") {
    const proposal = picked ?? waiting.find(({ status }) => status === "in_doubt")
    if (proposal?.status !== "in_doubt") return { type: "message" }
    return { type: "resolve", proposal, choice: word }
  }
  if (word === "again") {
    const late = (picked ? [picked] : waiting).filter((proposal) => isExpired(proposal, time))
    return late.length > 0 ? { type: "again", proposals: late } : { type: "message" }
  }
  const answer = own(WORDS, word)
  if (answer === undefined) return { type: "message" }
  if (place !== undefined && !picked) return { type: "unclear", says: `There are ${waiting.length} to decide.` }
  const open = waiting.filter((proposal) => isOpen(proposal, time))
  if (areAllExpired(waiting, time)) return word === "" ? { type: "go-on" } : { type: "unclear", says: WITHOUT }
  if (picked && isExpired(picked, time)) return { type: "unclear", says: EXPIRED }
  if (open.length === 0 || (picked && picked.status !== "pending"))
    return { type: "unclear", says: "Say retry, done or abandon: what became of it?" }
  if (answer === "edit" || answer === "always") return toOne(answer, picked ? [picked] : open, waiting)
  if (answer === "all" || answer === "none") return { type: answer, proposals: open }
  return { type: answer, proposals: picked ? [picked] : open }
}

function toOne(type: "edit" | "always", open: readonly Proposal[], waiting: readonly Proposal[]): TypedDecision {
  const [proposal] = open
  if (!proposal) return { type: "message" }
  if (open.length > 1) {
    // By the numbers on the card, which count all that waits.
    const words = open.map((each) => `${type} ${waiting.indexOf(each) + 1}`)
    return { type: "unclear", says: `Which one? ${words.join(", ")}.` }
  }
  if (type === "always" && proposal.insists)
    return { type: "unclear", says: "The like of this is asked about each time: yes or no." }
  return { type, proposal }
}

/** The question under what waits. */
export function questionOf(waiting: readonly Proposal[], time: Time): string {
  if (areAllExpired(waiting, time)) return WITHOUT
  const open = waiting.filter((proposal) => isOpen(proposal, time))
  const late = waiting.filter((proposal) => isExpired(proposal, time)).length
  const expired = late > 0 ? ` · ${late} expired` : ""
  if (open.length === 0) return `retry / done / abandon${expired}`
  const which = waiting.length > 1 ? " N" : ""
  const always = open.every(({ insists }) => insists) ? "" : ` / always${which}`
  const left = Math.min(...open.map(({ expiresAt }) => Date.parse(expiresAt))) - time.now
  // Below nothing is what this machine's clock says of one that the server calls open.
  const soon = left > 0 && left < LAST_MS ? ` · ${duration(Math.ceil(left / 1000) * 1000).replace(".0", "")} left` : ""
  return `[no] / yes${always} / edit${which} / none / all${soon}${expired}`
}

/** Only then can be gone on without them: what is in doubt, or open, keeps the conversation waiting. */
const areAllExpired = (waiting: readonly Proposal[], time: Time): boolean =>
  waiting.length > 0 && waiting.every((proposal) => isExpired(proposal, time))

function isExpired({ id, status, expiresAt }: Proposal, { now, said }: Time): boolean {
  const known = said.get(id)
  return status === "pending" && (known ? known === "expired" : Date.parse(expiresAt) <= now)
}

function isOpen(proposal: Proposal, time: Time): boolean {
  return proposal.status === "pending" && !isExpired(proposal, time)
}
