import { openQuestions, toContent } from "../../client/transcript/open-questions.ts"
import { type Question, type QuestionAnswer, whyNoAnswer } from "../../protocol/conversation/questions.ts"
import { DIM, line } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

/** Answers what the server of a tool asks: the only field, or several as `name=value; name=value`. */
export function answerCommand(talk: Talk, words: string): Promise<void> {
  return answer(talk, ({ fields }) => ({ action: "accept", content: toContent(fields, toWritten(fields, words)) }))
}

export function declineCommand(talk: Talk): Promise<void> {
  return answer(talk, () => ({ action: "decline" }))
}

function toWritten(fields: Question["fields"], words: string): Record<string, string> {
  const [only, second] = fields
  if (only && !second && !words.startsWith(`${only.name}=`)) return { [only.name]: words }
  const pairs = words.split(";").map((pair) => pair.split("=", 1).concat(pair.slice(pair.indexOf("=") + 1)))
  return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name.trim(), value]))
}

async function answer(talk: Talk, toAnswer: (question: Question) => QuestionAnswer): Promise<void> {
  const { conversation } = talk
  const [question] = conversation ? openQuestions(conversation.transcript, Date.now()) : []
  if (!conversation || !question) return talk.print(line("! Nothing is asked."))
  const given = toAnswer(question)
  const problem = whyNoAnswer(question, given)
  if (problem) return talk.print(line(toShown(`! ${problem.replace("content.", "")}.`)))
  await talk.client.answerQuestion({ params: { id: conversation.id, questionId: question.id }, body: given })
  talk.print(line(given.action === "accept" ? "Answered." : "Declined.", DIM))
}
