import type { ConversationId, ProposalId } from "../../protocol/ids.ts"
import type { ChatFrames } from "./chat-conversation.ts"
import type { Subscription } from "../stream/subscription.ts"
import { showHidden } from "../../shared/text/show-hidden.ts"
import type { Proposal } from "../../protocol/proposals/proposal.ts"
import { mendText } from "../../shared/text/text.ts"

/** The answer to a message, until its run ends. */
export interface OpenAnswer {
  readonly id: ConversationId
  readonly source: Subscription
  readonly frames: ChatFrames
}

/** A question as it was sent, and the answer that continues after the decision. */
export interface OpenQuestion extends QuestionText {
  readonly answer: OpenAnswer
}

/** The questions of this socket since its last message, by conversation. Immutable. */
export type OpenQuestions = ReadonlyMap<ConversationId, OpenQuestion>

export function withoutQuestion(questions: OpenQuestions, id: ConversationId): OpenQuestions {
  return new Map([...questions].filter(([other]) => other !== id))
}

/** The questions that were asked after a message which knew only `before`: they are still open. */
export function questionsSince(questions: OpenQuestions, before: OpenQuestions): OpenQuestions {
  return new Map([...questions].filter(([id, put]) => put !== before.get(id)))
}

/**
 * Most characters of one proposal, and of all, in a chat; longer ones must be decided on the page, which shows everything.
 */
const MAX_OF_ONE = 4000
const MAX = 16_000

export interface QuestionText {
  readonly words: string
  /** The proposals that a yes or no decides: all of them were shown. Empty if they cannot be decided here. */
  readonly ids: readonly ProposalId[]
}

interface QuestionContext {
  /** The reader may decide. */
  readonly mayDecide: boolean
  /** The reader's message waits for this decision. */
  readonly isSlow?: boolean
  /** The address of the page, if known. */
  readonly page: string | undefined
}

/** The open proposals as text. Undefined if there are none. */
export function toQuestionText(
  open: readonly Proposal[],
  { mayDecide, page, isSlow }: QuestionContext,
): QuestionText | undefined {
  const pending = open.filter(({ status }) => status === "pending")
  const doubtful = open.filter(({ status }) => status === "in_doubt")
  if (pending.length + doubtful.length === 0) return undefined
  const shown = pending.map(toText)
  const isWhole = shown.every((line) => line.length <= MAX_OF_ONE) && shown.join("").length <= MAX
  const onPage = `on Pawl's page${page ? ` (${page})` : ""}`
  const lines = (isWhole ? shown : pending.map(({ tool }) => tool)).map((line, index) => `${index + 1}. ${line}`)
  const here = mayDecide && isWhole
  const how = here
    ? `Answer yes or no here, or decide ${onPage}.`
    : `Decide ${onPage}: ${isWhole ? "this connection may not" : "it is too long to be shown here"}.`
  const paragraphs = [
    ...(pending.length > 0 ? [`Waiting for your yes:\n${lines.join("\n")}\n${how}`] : []),
    ...doubtful.map(
      ({ summary }) =>
        `It is not known whether this was done: ${showHidden(summary)}\nLook, and then say ${onPage} what became of it.`,
    ),
    ...(isSlow ? ["Until then your words wait; they are answered after it."] : []),
  ]
  return { words: paragraphs.join("\n\n"), ids: here ? pending.map(({ id }) => id) : [] }
}

/** Whether a question was about exactly these proposals. */
export const isAbout = ({ ids }: QuestionText, waiting: readonly ProposalId[]): boolean =>
  ids.length === waiting.length && ids.every((id) => waiting.includes(id))

/** The summary, the exact arguments, and whether it can be undone. */
function toText({ summary, tool, arguments: args, undoable, reason }: Proposal): string {
  const exactly = Object.keys(args).length > 0 ? ` ${JSON.stringify(args)}` : ""
  const why = reason === undefined ? "" : `\n   ${reason}`
  return mendText(showHidden(`${summary}\n   ${tool}${exactly}${why}${undoable ? "" : "\n   This cannot be undone."}`))
}

const YES_OR_NO = /^["'(\s]{0,4}(yes|no)[.,!;"')\s]{0,8}$/i

/** A yes or a no and nothing else. A question mark or any other word may change the meaning. */
export function verdictOf(answer: string): "yes" | "no" | undefined {
  const [, verdict] = (answer.length <= 20 && YES_OR_NO.exec(answer)) || []
  return verdict?.toLowerCase() as "yes" | "no" | undefined
}
