import { formatTimeLeft } from "../../../client/words.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { isPrefix, type Proposal, whyNoPrefix } from "../../../core/protocol/proposals/proposal.ts"
import { own } from "../../../core/shared/text/json.ts"
import { jsonPlace } from "../../../core/shared/text/system-errors.ts"
import { changeCardText } from "../../strings/approvals.ts"

/** What a person's words about waiting changes mean. `message`: they are words for the model, and nothing is decided by them. */
export type TypedDecision =
  | ({ readonly type: "yes" | "no" | "all" | "none"; readonly proposals: readonly Proposal[] } & Approval)
  /** Yes, and to the next ones of its tool; of commands to this one alone, or to those with a stated prefix. */
  | ({ readonly type: "always"; readonly proposal: Proposal; readonly prefix?: string } & Approval)
  | { readonly type: "edit"; readonly proposal: Proposal }
  | { readonly type: "resolve"; readonly proposal: Proposal; readonly choice: "retry" | "done" | "abandon" }
  /** Nobody may decide it any more: the conversation goes on without it. */
  | { readonly type: "go-on" }
  /** Nobody may decide it any more: it is proposed anew. */
  | { readonly type: "again"; readonly proposals: readonly Proposal[] }
  | { readonly type: "unclear"; readonly says: string }
  | { readonly type: "message" }

interface Approval {
  /** `yes!`: also to the lines that have not been on the screen. */
  readonly isUnread?: true
}

const WORDS: Readonly<Record<string, "yes" | "no" | "always" | "edit" | "all" | "none">> = {
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

const LAST_MS = 120_000

/** Which time it is here, and what the server has said of single proposals, by id: its clock is the one that counts. */
export interface Time {
  readonly now: number
  readonly said: ReadonlyMap<string, "expired" | "open">
}

const APPROVALS: readonly TypedDecision["type"][] = ["yes", "all", "always"]

/**
 * Reads an answer: a word, or a word and which one of several. Enter alone decides nothing, and everything that is not
 * exactly an answer is a message: no sentence, however it begins, agrees to anything. What has expired is decided by no word.
 */
export function readDecision(text: string, waiting: readonly Proposal[], time: Time): TypedDecision {
  const [, word, unread, place] = /^([a-z]+)(!)(?:\s+(\d+))?$/i.exec(text.trim()) ?? []
  if (!unread) return readAnswer(text, waiting, time)
  const decision = readAnswer(`${word} ${place ?? ""}`, waiting, time)
  if (decision.type === "unclear") return decision
  return APPROVALS.includes(decision.type) ? ({ ...decision, isUnread: true } as TypedDecision) : { type: "message" }
}

function readAnswer(text: string, waiting: readonly Proposal[], time: Time): TypedDecision {
  const found = /^([a-z]*)(?:\s+(\d+))?$/i.exec(text.trim())
  const word = found?.[1]?.toLowerCase()
  const place = found?.[2] === undefined ? undefined : Number(found[2])
  const picked = place === undefined ? undefined : waiting[place - 1]
  if (word === undefined) return readPrefix(text, waiting, time)
  if (word === "retry" || word === "done" || word === "abandon") {
    const proposal = picked ?? waiting.find(({ status }) => status === "in_doubt")
    if (proposal?.status !== "in_doubt") return { type: "message" }
    return { type: "resolve", proposal, choice: word }
  }
  if (word === "again") {
    const late = (picked ? [picked] : waiting).filter((proposal) => isExpired(proposal, time))
    return late.length > 0 ? { type: "again", proposals: late } : { type: "message" }
  }
  const open = waiting.filter((proposal) => isOpen(proposal, time))
  const answer = own(WORDS, word)
  if (answer === undefined && word !== "") return { type: "message" }
  if (place !== undefined && !picked) return { type: "unclear", says: changeCardText.countToDecide(waiting.length) }
  if (areAllExpired(waiting, time))
    return word === "" ? { type: "go-on" } : { type: "unclear", says: changeCardText.expiredHow }
  if (picked && isExpired(picked, time)) return { type: "unclear", says: changeCardText.expired }
  if (open.length === 0 || (picked && picked.status !== "pending"))
    return { type: "unclear", says: changeCardText.resolveHow }
  if (answer === undefined) return { type: "unclear", says: changeCardText.enterDecidesNothing }
  if (answer === "edit" || answer === "always") return toOne(answer, picked ? [picked] : open, waiting)
  if (answer === "all" || answer === "none") return { type: answer, proposals: open }
  return { type: answer, proposals: picked ? [picked] : open }
}

/** `always npm test *`, or `always 2 npm test *`: yes to a command, and to others that start so. */
function readPrefix(text: string, waiting: readonly Proposal[], time: Time): TypedDecision {
  const [, place = "", prefix = ""] = /^always(?:\s+(\d+))?\s+(\S.*)$/i.exec(text.trim()) ?? []
  if (!isPrefix(prefix)) return { type: "message" }
  const decision = readDecision(`always ${place}`, waiting, time)
  if (decision.type !== "always") return decision
  const problem = whyNoPrefix(prefix, decision.proposal.commandLine)
  return problem === undefined ? { ...decision, prefix } : { type: "unclear", says: problem }
}

/** Once a conversation has read untrusted content, nothing is approved beforehand: each change says why it asks. */
export const isAlwaysAsked = ({ insists, reason }: Proposal): boolean => insists === true || reason !== undefined

function toOne(type: "edit" | "always", open: readonly Proposal[], waiting: readonly Proposal[]): TypedDecision {
  const [proposal] = open
  if (!proposal) return { type: "message" }
  if (open.length > 1) {
    // By the numbers on the card, which count all that waits.
    const words = open.map((each) => `${type} ${waiting.indexOf(each) + 1}`)
    return { type: "unclear", says: changeCardText.whichOne(words.join(", ")) }
  }
  if (type === "always" && isAlwaysAsked(proposal)) return { type: "unclear", says: changeCardText.askedEachTime }
  return { type, proposal }
}

/** The question under what waits. */
export function questionOf(waiting: readonly Proposal[], time: Time): string {
  if (areAllExpired(waiting, time)) return changeCardText.expiredHow
  const open = waiting.filter((proposal) => isOpen(proposal, time))
  const late = waiting.filter((proposal) => isExpired(proposal, time)).length
  const expired = late > 0 ? [changeCardText.expiredCount(late)] : []
  if (open.length === 0) return changeCardText.question(changeCardText.answersInDoubt, expired)
  const which = waiting.length > 1 ? " N" : ""
  const always = open.every(isAlwaysAsked) ? [] : [`always${which}`]
  const left = Math.min(...open.map(({ expiresAt }) => Date.parse(expiresAt))) - time.now
  // Below nothing is what this machine's clock says of one that the server calls open.
  const soon = left > 0 && left < LAST_MS ? [formatTimeLeft(left)] : []
  return changeCardText.question(["yes", "no", ...always, `edit${which}`, "none", "all"], [...soon, ...expired])
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

/**
 * One answer at a time: the next one is taken when this one has changed what waits here too, or has changed nothing. What
 * comes up meanwhile is answered by itself.
 */
export class AnswerOnItsWay {
  #to: readonly Proposal[] = []

  /** Whether it is to the very same: what was tried again and is in doubt again is another one. */
  isTo(waiting: readonly Proposal[]): boolean {
    return this.#to.length === waiting.length && this.#to.every((one, place) => one === waiting[place])
  }

  /** `conversation`: in which it is given, whatever is looked at when it ends. `answer`: whether it changes what waits. */
  async send(conversation: { readonly waiting: readonly Proposal[] }, answer: Promise<boolean>): Promise<void> {
    const { waiting } = conversation
    this.#to = waiting
    let changes = false
    try {
      changes = await answer
    } catch (error) {
      // The server answers when the run rests, and not every proxy waits so long: that it has counted is seen by what waits.
      changes = hasCode(error, "unreachable") && !waiting.every((one) => conversation.waiting.includes(one))
      if (!changes) throw error
    } finally {
      if (!changes && this.#to === waiting) this.#to = []
    }
  }
}

/** Arguments as a person has changed them; a string says what is wrong with them. */
export function readArguments(text: string): Record<string, unknown> | string {
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    return changeCardText.notJson(jsonPlace(error))
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) return changeCardText.notObject
  return given as Record<string, unknown>
}
