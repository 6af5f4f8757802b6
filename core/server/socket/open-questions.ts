import type { ConversationId, ProposalId } from "../../protocol/ids.ts"
import type { ChatFrames } from "./chat-conversation.ts"
import type { Subscription } from "../stream/subscription.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { mendText } from "../../shared/text/text.ts"

/** What is told of a conversation over a socket, from words that were said there to their end. */
export interface OpenAnswer {
  readonly id: ConversationId
  readonly source: Subscription
  readonly frames: ChatFrames
}

/** A question as it was put, and the answer that goes on when it is decided. */
export interface OpenQuestion extends QuestionText {
  readonly answer: OpenAnswer
}

/** What whoever is at the other end has been asked since they last spoke, by conversation. Never changed, only replaced. */
export type OpenQuestions = ReadonlyMap<ConversationId, OpenQuestion>

export function withoutQuestion(asked: OpenQuestions, id: ConversationId): OpenQuestions {
  return new Map([...asked].filter(([other]) => other !== id))
}

/** Of all that was asked, what was asked after words had left that know only of `before`: it is still to be answered. */
export function askedSince(asked: OpenQuestions, before: OpenQuestions): OpenQuestions {
  return new Map([...asked].filter(([id, put]) => put !== before.get(id)))
}

/**
 * Characters of one change, and of all of them, that are written out in a chat; longer ones are decided on the page,
 * where all of it can be seen.
 */
const MAX_OF_ONE = 4000
const MAX = 16_000

export interface QuestionText {
  readonly words: string
  /** What a yes or a no is about: all of it was shown. Empty where it cannot be answered in words. */
  readonly ids: readonly ProposalId[]
}

interface Asking {
  /** The reader may decide. */
  readonly mayDecide: boolean
  /** They have said something that waits until this is decided. */
  readonly isBehind?: boolean
  /** Where the page is, if that is known. */
  readonly page: string | undefined
}

/** What waits for a person, for one who sees nothing but words. Undefined where nothing does. */
export function toQuestionText(
  open: readonly Proposal[],
  { mayDecide, page, isBehind }: Asking,
): QuestionText | undefined {
  const pending = open.filter(({ status }) => status === "pending")
  const doubtful = open.filter(({ status }) => status === "in_doubt")
  if (pending.length + doubtful.length === 0) return undefined
  const shown = pending.map(wordsOf)
  const isWhole = shown.every((words) => words.length <= MAX_OF_ONE) && shown.join("").length <= MAX
  const elsewhere = `on Pawl's page${page ? ` (${page})` : ""}`
  const lines = (isWhole ? shown : pending.map(({ tool }) => tool)).map((words, index) => `${index + 1}. ${words}`)
  const here = mayDecide && isWhole
  const how = here
    ? `Answer yes or no here, or decide ${elsewhere}.`
    : `Decide ${elsewhere}: ${isWhole ? "this connection may not" : "it is too long to be shown here"}.`
  const paragraphs = [
    ...(pending.length > 0 ? [`Waiting for your yes:\n${lines.join("\n")}\n${how}`] : []),
    ...doubtful.map(
      ({ summary }) =>
        `It is not known whether this was done: ${showHidden(summary)}\nLook, and then say ${elsewhere} what became of it.`,
    ),
    ...(isBehind ? ["Until then your words wait; they are answered after it."] : []),
  ]
  return { words: paragraphs.join("\n\n"), ids: here ? pending.map(({ id }) => id) : [] }
}

/** Whether a question was about just these, and no other. */
export const isAbout = ({ ids }: QuestionText, waiting: readonly ProposalId[]): boolean =>
  ids.length === waiting.length && ids.every((id) => waiting.includes(id))

/** What it is, exactly what is done, and whether that can be taken back. */
function wordsOf({ summary, tool, arguments: given, undoable, reason }: Proposal): string {
  const exactly = Object.keys(given).length > 0 ? ` ${JSON.stringify(given)}` : ""
  const why = reason === undefined ? "" : `\n   ${reason}`
  return mendText(showHidden(`${summary}\n   ${tool}${exactly}${why}${undoable ? "" : "\n   This cannot be undone."}`))
}

const YES_OR_NO = /^["'(\s]{0,4}(yes|no)[.,!;"')\s]{0,8}$/i

/** Whether words are a yes or a no and nothing else. A question mark asks back, and any other word may mean anything. */
export function verdictOf(words: string): "yes" | "no" | undefined {
  const [, verdict] = (words.length <= 20 && YES_OR_NO.exec(words)) || []
  return verdict?.toLowerCase() as "yes" | "no" | undefined
}
