import { QuestionAnswer, SettledQuestion } from "../../conversation/questions.ts"
import { defineRoutes } from "../route.ts"

/** What servers of tools ask the person. */
export const questionRoutes = defineRoutes({
  answerQuestion: {
    method: "POST",
    path: "/api/conversations/{id}/questions/{questionId}",
    needs: "approve",
    says: "Answers what the server of a tool asks in the middle of a call. The first answer counts, and is sent to that server.",
    body: QuestionAnswer,
    answers: { 200: SettledQuestion },
  },
})
