import { isWaiting } from "../engine/conversation.ts"
import { failure } from "../protocol/errors.ts"
import { type ConversationId, isId } from "../protocol/ids.ts"
import { type Question as ProtocolQuestion, QuestionAnswer } from "../protocol/conversation/questions.ts"
import { answerQuestion } from "../server/conversation/decide.ts"
import { conversationOf } from "../server/conversation/find.ts"
import { check } from "../server/request/read-input.ts"
import type { Parts, PersonalParts, Proposal, ReadOnly } from "./parts.ts"
import { subAgentOf } from "./sub-agents.ts"

/** An open question of a tool, or of an MCP server, whose `server` is then named and whose text is untrusted. */
export interface Question extends ReadOnly<ProtocolQuestion> {
  readonly conversationId: ConversationId
}

/** Questions that tools ask a user. */
export interface Questions {
  /** Lists the open questions of a conversation and of its sub-agents. */
  list(conversation: string): Promise<readonly Question[]>
  /**
   * Answers a question with a value for each field, or with a text if it has one field. The first answer counts; a later
   * one throws `question_settled`.
   */
  answer(question: QuestionRef, content: string | Readonly<Record<string, unknown>>): Promise<void>
  /** Declines to answer. The tool receives that. */
  decline(question: QuestionRef): Promise<void>
}

/** A question, or its two ids. */
export type QuestionRef = Pick<Question, "id" | "conversationId">

export function openPersonQuestions(parts: PersonalParts): Questions {
  const { store, ports, runtime } = parts
  const submit = async ({ id, conversationId }: QuestionRef, answer: (open: Question) => QuestionAnswer) => {
    const conversation = await find(conversationId)
    const open = (await readWaits(parts, conversation)).questions.find((question) => question.id === id)
    if (!open) throw isId("ques", id) ? failure("question_settled", { id }) : failure("not_found")
    const by = await parts.user()
    const answering = { runtime, bus: ports.bus, journal: ports.journal, conversations: store.conversations }
    await answerQuestion(
      answering,
      { id: conversation, questionId: id },
      { by, ...check(QuestionAnswer, answer(open)) },
    )
  }
  const find = async (id: string) => {
    if (!isId("conv", id)) throw failure("not_found")
    return (await conversationOf(store, await parts.user(), id)).id
  }
  return {
    list: async (conversation) => (await readWaits(parts, await find(conversation))).questions,
    answer: (question, given) =>
      submit(question, ({ fields: [field] }) => ({
        action: "accept",
        content: (typeof given === "string" ? { [field?.name ?? ""]: given } : given) as QuestionAnswer["content"],
      })),
    decline: (question) => submit(question, () => ({ action: "decline" })),
  }
}

/** The questions and proposals that must be answered and decided before a run continues. */
export interface Waits {
  readonly proposals: readonly Proposal[]
  readonly questions: readonly Question[]
  /** False if the run has other work besides. */
  readonly isIdle: boolean
  /** The position of the events that were read. */
  readonly position: number
}

/** Reads the questions of a running conversation, and the questions and proposals of its sub-agents. */
export async function readWaits(parts: Parts, id: ConversationId): Promise<Waits> {
  const conversation = await parts.ports.journal.load(id, true)
  const isRunning = conversation.run?.status === "running"
  const open = isRunning ? conversation.calls.filter(({ state }) => state === "started" || state === "new") : []
  const waits = await Promise.all(
    open.map(async ({ kept, question }): Promise<Omit<Waits, "position">> => {
      if (question) return { proposals: [], questions: [{ ...question, conversationId: id }], isIdle: true }
      const subAgent = subAgentOf(kept)
      if (!subAgent) return { proposals: [], questions: [], isIdle: false }
      const view = await parts.store.conversations.find(conversation.user, subAgent)
      if (view?.status !== "awaiting_confirmation") return readWaits(parts, subAgent)
      return { proposals: await parts.store.proposals.open(subAgent), questions: [], isIdle: true }
    }),
  )
  return {
    proposals: waits.flatMap(({ proposals }) => proposals),
    questions: waits.flatMap(({ questions }) => questions),
    isIdle: isWaiting(conversation) && waits.every(({ isIdle }) => isIdle),
    position: conversation.position,
  }
}
