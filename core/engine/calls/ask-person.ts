import {
  type Question,
  QUESTION,
  QUESTION_SETTLED,
  type SettledQuestion,
} from "../../protocol/conversation/questions.ts"
import { newId, type QuestionId } from "../../protocol/ids.ts"
import type { Call } from "../conversation.ts"
import type { ToolQuestion } from "../definition/tool.ts"
import type { AnswerInput, InboxItem } from "../input.ts"
import { record, type Work } from "../record.ts"

/** How long a server waits for a person. During that time its connection stays open. It ends with this process. */
const QUESTION_MS = 5 * 60_000
/** Longer timers of Node ring at once. */
const LONGEST_MS = 20 * 24 * 60 * 60_000
/** A notification of an answer may be lost. Then polling finds it. */
const LOOK_EVERY_MS = 2000

interface Asking {
  readonly question: ToolQuestion
  /** Set if the question outlasts its process. */
  readonly number?: number | undefined
  readonly signal: AbortSignal
}

/**
 * Asks the user. The question is recorded before it is shown; the answer comes as input, and the first one counts.
 * Rejects if the call is stopped. A numbered question that an earlier process has asked is not asked again.
 */
export async function askPerson(
  work: Work,
  call: Call,
  { question: asked, number, signal }: Asking,
): Promise<SettledQuestion> {
  const { conversation, ports } = work
  const now = ports.clock.now()
  signal.throwIfAborted()
  const known = number === undefined ? undefined : call.answers?.[number]
  if (known) return known
  const before = number !== undefined && call.question?.number === number ? call.question : undefined
  const waitMs = number === undefined ? QUESTION_MS : Math.min(ports.policy.proposalMinutes * 60_000, LONGEST_MS)
  const question: Question = before ?? {
    ...asked,
    ...{ id: newId("ques", conversation.user, now), callId: call.id, expiresAt: now + waitMs },
    ...(number === undefined ? {} : { number }),
  }
  const { id } = question
  if (!before) await record(work, [{ type: "step", step: QUESTION, detail: question }])
  signal.throwIfAborted() // aborted while the question was recorded, so the abort event will not come
  const settled = toSettled(id, await firstAnswer(work, question, signal))
  // Answers stay in the inbox until the next step, which ignores them. Taking them here would fail if other input has
  // just arrived, and this call could record nothing more with its outdated state.
  await record(work, [{ type: "step", step: QUESTION_SETTLED, detail: settled }])
  return settled
}

function toSettled(questionId: QuestionId, answer: AnswerInput | undefined): SettledQuestion {
  if (!answer) return { questionId, outcome: "expired" }
  const { action: outcome, content, by } = answer
  return { questionId, outcome, ...(outcome === "accept" && content ? { content } : {}), by }
}

/** Undefined if no answer came in time. */
function firstAnswer(
  { conversation, ports }: Work,
  { id, expiresAt }: Question,
  signal: AbortSignal,
): Promise<AnswerInput | undefined> {
  const { clock, bus, journal } = ports
  const found = Promise.withResolvers<AnswerInput | undefined>()
  const look = async () => {
    const read = await journal.readInbox(conversation.id)
    const item = read?.inbox.find((each) => isAnswerTo(id, each))
    if (item) found.resolve(item.input as AnswerInput)
  }
  const lookAgain = () => void look().catch(() => {}) // the next poll may find it
  let cancelLook = clock.alarm(LOOK_EVERY_MS, function again() {
    cancelLook = clock.alarm(LOOK_EVERY_MS, again)
    lookAgain()
  })
  // An answer that came in time may not have been read yet, although its sender got the confirmation that it counts.
  const expire = () =>
    void look()
      .catch(() => {})
      .then(() => found.resolve(undefined))
  const cancelExpiry = clock.alarm(Math.max(0, expiresAt - clock.now()), expire)
  lookAgain() // an earlier process may have failed before it read the answer
  const unsubscribe = bus.onWake((woken) => {
    if (woken === conversation.id) lookAgain()
  })
  const onAbort = () => found.reject(signal.reason as Error)
  signal.addEventListener("abort", onAbort, { once: true })
  return found.promise.finally(() => {
    cancelLook()
    cancelExpiry()
    unsubscribe()
    signal.removeEventListener("abort", onAbort)
  })
}

const isAnswerTo = (id: QuestionId, { input }: InboxItem): boolean => input.type === "answer" && input.questionId === id
