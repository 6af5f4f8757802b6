import { formatTimeLeft } from "../../../client/format.ts"
import { hasCode } from "../../../core/protocol/errors.ts"
import { isPrefix, type Proposal, whyNoPrefix } from "../../../core/protocol/proposals/proposal.ts"
import { own } from "../../../core/shared/text/json.ts"
import { jsonPosition } from "../../../core/shared/text/system-errors.ts"
import { changeCardText } from "../../strings/approvals.ts"

/** The meaning of text typed under a change card. `message`: it decides nothing and is sent to the model. */
export type TypedDecision =
  | ({ readonly type: "yes" | "no" | "all" | "none"; readonly proposals: readonly Proposal[] } & Approval)
  /**
   * Approves this change and the next ones of its tool. For commands: only this one, or those with the given prefix.
   */
  | ({ readonly type: "always"; readonly proposal: Proposal; readonly prefix?: string } & Approval)
  | { readonly type: "edit"; readonly proposal: Proposal }
  | { readonly type: "resolve"; readonly proposal: Proposal; readonly choice: "retry" | "done" | "abandon" }
  /** All changes have expired: the conversation continues without them. */
  | { readonly type: "go-on" }
  /** All changes have expired: they are proposed again. */
  | { readonly type: "again"; readonly proposals: readonly Proposal[] }
  | { readonly type: "unclear"; readonly says: string }
  | { readonly type: "message" }

interface Approval {
  /** `yes!`: approves also lines that have not been on the screen. */
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

/** The local time, and what the server reported about single proposals: for expiry the server's clock counts. */
export interface DecisionClock {
  readonly now: number
  readonly expiry: ReadonlyMap<string, "expired" | "open">
}

const APPROVALS: readonly TypedDecision["type"][] = ["yes", "all", "always"]

/**
 * Reads a decision: a word, or a word and a number. An empty line decides nothing, and text that is not exactly a
 * decision is a message. An expired change cannot be decided.
 */
export function readDecision(text: string, waiting: readonly Proposal[], time: DecisionClock): TypedDecision {
  const [, word, unread, place] = /^([a-z]+)(!)(?:\s+(\d+))?$/i.exec(text.trim()) ?? []
  if (!unread) return readAnswer(text, waiting, time)
  const decision = readAnswer(`${word} ${place ?? ""}`, waiting, time)
  if (decision.type === "unclear") return decision
  return APPROVALS.includes(decision.type) ? ({ ...decision, isUnread: true } as TypedDecision) : { type: "message" }
}

function readAnswer(text: string, waiting: readonly Proposal[], time: DecisionClock): TypedDecision {
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
    const expired = (picked ? [picked] : waiting).filter((proposal) => isExpired(proposal, time))
    return expired.length > 0 ? { type: "again", proposals: expired } : { type: "message" }
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
  if (answer === "edit" || answer === "always") return decideOne(answer, picked ? [picked] : open, waiting)
  if (answer === "all" || answer === "none") return { type: answer, proposals: open }
  return { type: answer, proposals: picked ? [picked] : open }
}

/** `always npm test *` or `always 2 npm test *`: approves a command and those that start with the prefix. */
function readPrefix(text: string, waiting: readonly Proposal[], time: DecisionClock): TypedDecision {
  const [, place = "", prefix = ""] = /^always(?:\s+(\d+))?\s+(\S.*)$/i.exec(text.trim()) ?? []
  if (!isPrefix(prefix)) return { type: "message" }
  const decision = readDecision(`always ${place}`, waiting, time)
  if (decision.type !== "always") return decision
  const problem = whyNoPrefix(prefix, decision.proposal.commandLine)
  return problem === undefined ? { ...decision, prefix } : { type: "unclear", says: problem }
}

/** After a conversation has read untrusted content, each change is asked about separately and states its reason. */
export const asksEachTime = ({ insists, reason }: Proposal): boolean => insists === true || reason !== undefined

function decideOne(type: "edit" | "always", open: readonly Proposal[], waiting: readonly Proposal[]): TypedDecision {
  const [proposal] = open
  if (!proposal) return { type: "message" }
  if (open.length > 1) {
    // The numbers of the card, which counts all changes.
    const words = open.map((each) => `${type} ${waiting.indexOf(each) + 1}`)
    return { type: "unclear", says: changeCardText.whichOne(words.join(", ")) }
  }
  if (type === "always" && asksEachTime(proposal)) return { type: "unclear", says: changeCardText.askedEachTime }
  return { type, proposal }
}

/** The question below the changes that wait. */
export function decisionQuestion(waiting: readonly Proposal[], time: DecisionClock): string {
  if (areAllExpired(waiting, time)) return changeCardText.expiredHow
  const open = waiting.filter((proposal) => isOpen(proposal, time))
  const count = waiting.filter((proposal) => isExpired(proposal, time)).length
  const expired = count > 0 ? [changeCardText.expiredCount(count)] : []
  if (open.length === 0) return changeCardText.question(changeCardText.answersInDoubt, expired)
  const which = waiting.length > 1 ? " N" : ""
  const always = open.every(asksEachTime) ? [] : [`always${which}`]
  const left = Math.min(...open.map(({ expiresAt }) => Date.parse(expiresAt))) - time.now
  // Negative if only this machine's clock considers it expired.
  const soon = left > 0 && left < LAST_MS ? [formatTimeLeft(left)] : []
  return changeCardText.question(["yes", "no", ...always, `edit${which}`, "none", "all"], [...soon, ...expired])
}

/** Only then can the run continue without them: a change that is in doubt or open still needs a decision. */
const areAllExpired = (waiting: readonly Proposal[], time: DecisionClock): boolean =>
  waiting.length > 0 && waiting.every((proposal) => isExpired(proposal, time))

function isExpired({ id, status, expiresAt }: Proposal, { now, expiry }: DecisionClock): boolean {
  const known = expiry.get(id)
  return status === "pending" && (known ? known === "expired" : Date.parse(expiresAt) <= now)
}

function isOpen(proposal: Proposal, time: DecisionClock): boolean {
  return proposal.status === "pending" && !isExpired(proposal, time)
}

/**
 * Allows one decision at a time: the next is accepted after this one has changed the list of waiting changes, or has
 * failed.
 */
export class DecisionInFlight {
  #to: readonly Proposal[] = []

  /** Compares by identity: a change that was tried again and is in doubt again is a new object. */
  isTo(waiting: readonly Proposal[]): boolean {
    return this.#to.length === waiting.length && this.#to.every((one, place) => one === waiting[place])
  }

  /**
   * `conversation`: where the decision was made, even if another one is shown when it completes. `answer`: whether it
   * changes the list.
   */
  async send(conversation: { readonly waiting: readonly Proposal[] }, answer: Promise<boolean>): Promise<void> {
    const { waiting } = conversation
    this.#to = waiting
    let changes = false
    try {
      changes = await answer
    } catch (error) {
      // The server responds when the run is idle, and some proxies do not wait that long. The list of changes shows
      // whether the decision counted.
      changes = hasCode(error, "unreachable") && !waiting.every((one) => conversation.waiting.includes(one))
      if (!changes) throw error
    } finally {
      if (!changes && this.#to === waiting) this.#to = []
    }
  }
}

/** Parses edited arguments. Returns a sentence about the problem if they are not valid. */
export function readArguments(text: string): Record<string, unknown> | string {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch (error) {
    return changeCardText.notJson(jsonPosition(error))
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return changeCardText.notObject
  return parsed as Record<string, unknown>
}
