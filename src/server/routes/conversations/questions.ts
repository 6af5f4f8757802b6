import type { Hono } from "hono"
import { canonicalJson } from "../../../protocol/canonical-json.ts"
import { QUESTION_SETTLED, SettledQuestion, whyNoAnswer } from "../../../protocol/conversation/questions.ts"
import { failure } from "../../../protocol/errors.ts"
import type { JournalEvent } from "../../../protocol/events.ts"
import { isId } from "../../../protocol/ids.ts"
import { routes } from "../../../protocol/routes/index.ts"
import { findConversation } from "../../conversation/find.ts"
import type { ConversationPorts } from "../../conversation/ports.ts"
import { waitForEvent } from "../../conversation/wait-for-event.ts"
import { userOf } from "../../door/caller.ts"
import type { Env } from "../../door/request-env.ts"
import { serveRoute } from "../../request/serve-route.ts"

/** Answers to what servers of tools ask: each waits until it is on record that it, or another one, was the first. */
export function questionRoutes(app: Hono<Env>, ports: ConversationPorts): void {
  const { runtime, journal } = ports

  serveRoute(app, routes.answerQuestion, async (c, { body }) => {
    const conversation = await findConversation(c, ports)
    const { id } = conversation
    const questionId = c.req.param("questionId") ?? ""
    if (!isId("ques", questionId)) throw failure("not_found")
    const { calls } = await journal.load(id, true)
    const question = calls.find((call) => call.question?.id === questionId)?.question
    if (!question) throw failure("question_settled", { id: questionId })
    const problem = whyNoAnswer(question, body)
    if (problem) throw failure("bad_request", { problem })
    let settled: SettledQuestion | undefined
    const isOver = (event: JournalEvent) => {
      if (event.type === "step" && event.step === QUESTION_SETTLED) {
        const { data } = SettledQuestion.safeParse(event.detail)
        if (data?.questionId === questionId) settled = data
      }
      // Its call has ended, or was begun anew after a crash: nobody waits for this answer any more.
      return settled !== undefined || ("callId" in event && event.callId === question.callId)
    }
    using watching = waitForEvent(ports, conversation, isOver)
    await runtime.submit(id, { type: "answer", questionId, by: userOf(c), ...body })
    await watching.over()
    // The same answer from two devices is one answer.
    const isOurs =
      settled?.outcome === body.action && canonicalJson(settled.content ?? {}) === canonicalJson(body.content ?? {})
    if (!settled || !isOurs) throw failure("question_settled", { id: questionId })
    return settled
  })
}
