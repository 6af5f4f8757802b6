import { describeContext } from "../../../client/transcript/context-meter.ts"
import { openQuestions, toContent } from "../../../client/transcript/open-questions.ts"
import { describeSummary, summaryLists } from "../../../client/transcript/reply-words.ts"
import { type Question, type QuestionAnswer, answerProblem } from "../../../core/protocol/conversation/questions.ts"
import { chatText } from "../../strings/chat.ts"
import { slashText } from "../../strings/slash-commands.ts"
import { markdownLines } from "../drawing/markdown-lines.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

const LISTED = 20
/** Longer words the server would refuse. */
const LONGEST = 200

type Listed = Awaited<ReturnType<Talk["client"]["listConversations"]>>["items"]

/** What each number stands for: what was last shown. Conversations that are newer do not move what a person has read. */
const shown = new WeakMap<Talk, Listed>()

/** The newest conversations, those whose title has the words, or goes to one by its number. */
export async function conversationsCommand({ talk }: { readonly talk: Talk }, words: string): Promise<void> {
  const isNumber = /^\d+$/.test(words)
  const search = words === "" || isNumber ? undefined : words.slice(0, LONGEST)
  const before = isNumber ? shown.get(talk) : undefined
  const items = before ?? (await list(talk, search))
  const chosen = isNumber ? items[Number(words) - 1] : undefined
  if (chosen) return void (await talk.enter(chosen.id))
  shown.set(talk, items)
  const none = search === undefined ? slashText.noConversations : slashText.noTitle(toShown(search))
  const how = slashText.conversationsHow
  talk.print([], ...toLines(talk, items), line(items.length === 0 ? none : how, DIM))
}

/** Goes on while a page is empty: one of a search has looked at so many titles and no more. */
async function list({ client }: Talk, search: string | undefined): Promise<Listed> {
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await client.listConversations({ query: { limit: LISTED, search, cursor } })
    if (items.length > 0 || nextCursor === null) return items
    cursor = nextCursor
  }
}

function toLines(talk: Talk, items: Listed): Line[] {
  const folders = talk.reached.folders?.() ?? new Map<string, string>()
  return items.map(({ title, status, updatedAt, id }, index) => {
    const waits =
      status === "awaiting_confirmation" ? slashText.waitsForApproval : status === "running" ? slashText.running : ""
    const here = id === talk.conversation?.id ? slashText.here : ""
    const name = toShown(title ?? chatText.untitled)
    const folder = folders.get(id)
    const where = folder ? ` · ${toShown(folder)}` : ""
    const more = ` · ${toTime(updatedAt)}${waits}${here}${where}`
    return [span(`${String(index + 1).padStart(2)}  ${name}`), span(more, DIM)]
  })
}

/** As the clock on the wall has it; the day only where it is another one. */
function toTime(iso: string): string {
  const at = new Date(iso)
  const two = (number: number) => String(number).padStart(2, "0")
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
  return `${at.toDateString() === new Date().toDateString() ? "" : day}${two(at.getHours())}:${two(at.getMinutes())}`
}

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
  if (!conversation || !question) return talk.print(line(slashText.noQuestion))
  const given = toAnswer(question)
  const problem = answerProblem(question, given)
  if (problem) return talk.print(line(toShown(slashText.warning(`${problem.replace("content.", "")}.`))))
  await talk.client.answerQuestion({ params: { id: conversation.id, questionId: question.id }, body: given })
  talk.print(line(given.action === "accept" ? slashText.answered : slashText.declined, DIM))
}

/** Has what was said summed up, and says how full the conversation is. */
export async function compactCommand(talk: Talk): Promise<void> {
  const { conversation } = talk
  if (!conversation) return talk.print(line(slashText.nothingToSummarize))
  await talk.client.compactConversation({ params: { id: conversation.id } })
  const { context, model } = conversation.transcript
  const limitTokens = context?.limitTokens ?? talk.windows.get(model ?? "") ?? null
  const full = context ? `${describeContext({ ...context, limitTokens })} ` : ""
  talk.print(line(full + slashText.summaryRequested, DIM))
}

/** What the last summary says. */
export function summaryCommand(talk: Talk): void {
  const items = talk.conversation?.transcript.items ?? []
  const last = items.findLast((item) => item.type === "notice" && item.notice === "compacted")
  if (last?.type !== "notice") return talk.print(line(slashText.noSummary))
  const { detail, summedUp = {} } = last
  const kept = summaryLists(summedUp).flatMap(({ head, lines }) => [
    ...[[], line(head, DIM)],
    ...lines.map((each) => line(`- ${toShown(each)}`)),
  ])
  talk.print([], line(describeSummary(summedUp), DIM), [], ...markdownLines(detail ?? "", talk.columns), ...kept)
}
