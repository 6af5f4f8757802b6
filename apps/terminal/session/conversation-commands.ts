import { describeContext } from "../../../client/transcript/context-meter.ts"
import { openQuestions, toContent } from "../../../client/transcript/open-questions.ts"
import { describeSummary, summaryLists } from "../../../client/transcript/reply-text.ts"
import { type Question, type QuestionAnswer, answerProblem } from "../../../core/protocol/conversation/questions.ts"
import { chatText } from "../../strings/chat.ts"
import { slashText } from "../../strings/slash-commands.ts"
import { markdownLines } from "../drawing/markdown-lines.ts"
import { DIM, type Line, line, span } from "../line.ts"
import { printable } from "../printable.ts"
import type { TerminalSession } from "./terminal-session.ts"

const LISTED = 20
/** The server refuses longer searches. */
const LONGEST = 200

type Listed = Awaited<ReturnType<TerminalSession["client"]["listConversations"]>>["items"]

/** The list that was shown last, so that a number always means the entry that the person has seen. */
const shown = new WeakMap<TerminalSession, Listed>()

/** Lists the newest conversations or those with matching titles, or opens one by its number. */
export async function conversationsCommand(
  { session }: { readonly session: TerminalSession },
  text: string,
): Promise<void> {
  const isNumber = /^\d+$/.test(text)
  const search = text === "" || isNumber ? undefined : text.slice(0, LONGEST)
  const before = isNumber ? shown.get(session) : undefined
  const items = before ?? (await list(session, search))
  const chosen = isNumber ? items[Number(text) - 1] : undefined
  if (chosen) return void (await session.enter(chosen.id))
  shown.set(session, items)
  const none = search === undefined ? slashText.noConversations : slashText.noTitle(printable(search))
  const how = slashText.conversationsHow
  session.print([], ...toLines(session, items), line(items.length === 0 ? none : how, DIM))
}

/** A page may be empty because the server searches a limited number of titles per page. */
async function list({ client }: TerminalSession, search: string | undefined): Promise<Listed> {
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await client.listConversations({ query: { limit: LISTED, search, cursor } })
    if (items.length > 0 || nextCursor === null) return items
    cursor = nextCursor
  }
}

function toLines(session: TerminalSession, items: Listed): Line[] {
  const folders = session.server.folders?.() ?? new Map<string, string>()
  return items.map(({ title, status, updatedAt, id }, index) => {
    const waits =
      status === "awaiting_confirmation" ? slashText.waitsForApproval : status === "running" ? slashText.running : ""
    const here = id === session.conversation?.id ? slashText.here : ""
    const name = printable(title ?? chatText.untitled)
    const folder = folders.get(id)
    const where = folder ? ` · ${printable(folder)}` : ""
    const more = ` · ${toTime(updatedAt)}${waits}${here}${where}`
    return [span(`${String(index + 1).padStart(2)}  ${name}`), span(more, DIM)]
  })
}

/** Local time, with the date if it is not today. */
function toTime(iso: string): string {
  const at = new Date(iso)
  const two = (number: number) => String(number).padStart(2, "0")
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
  return `${at.toDateString() === new Date().toDateString() ? "" : day}${two(at.getHours())}:${two(at.getMinutes())}`
}

/** Answers the question of a tool: the only field, or several as `name=value; name=value`. */
export function answerCommand(session: TerminalSession, text: string): Promise<void> {
  return answer(session, ({ fields }) => ({ action: "accept", content: toContent(fields, toWritten(fields, text)) }))
}

export function declineCommand(session: TerminalSession): Promise<void> {
  return answer(session, () => ({ action: "decline" }))
}

function toWritten(fields: Question["fields"], text: string): Record<string, string> {
  const [only, second] = fields
  if (only && !second && !text.startsWith(`${only.name}=`)) return { [only.name]: text }
  const pairs = text.split(";").map((pair) => pair.split("=", 1).concat(pair.slice(pair.indexOf("=") + 1)))
  return Object.fromEntries(pairs.map(([name = "", value = ""]) => [name.trim(), value]))
}

async function answer(session: TerminalSession, toAnswer: (question: Question) => QuestionAnswer): Promise<void> {
  const { conversation } = session
  const [question] = conversation ? openQuestions(conversation.transcript, Date.now()) : []
  if (!conversation || !question) return session.print(line(slashText.noQuestion))
  const parsed = toAnswer(question)
  const problem = answerProblem(question, parsed)
  if (problem) return session.print(line(printable(slashText.warning(`${problem.replace("content.", "")}.`))))
  await session.client.answerQuestion({ params: { id: conversation.id, questionId: question.id }, body: parsed })
  session.print(line(parsed.action === "accept" ? slashText.answered : slashText.declined, DIM))
}

/** Starts a summary and prints how full the context is. */
export async function compactCommand(session: TerminalSession): Promise<void> {
  const { conversation } = session
  if (!conversation) return session.print(line(slashText.nothingToSummarize))
  await session.client.compactConversation({ params: { id: conversation.id } })
  const { context, model } = conversation.transcript
  const limitTokens = context?.limitTokens ?? session.windows.get(model ?? "") ?? null
  const full = context ? `${describeContext({ ...context, limitTokens })} ` : ""
  session.print(line(full + slashText.summaryRequested, DIM))
}

/** Prints the last summary. */
export function summaryCommand(session: TerminalSession): void {
  const items = session.conversation?.transcript.items ?? []
  const last = items.findLast((item) => item.type === "notice" && item.notice === "compacted")
  if (last?.type !== "notice") return session.print(line(slashText.noSummary))
  const { detail, summedUp = {} } = last
  const lists = summaryLists(summedUp).flatMap(({ head, lines }) => [
    ...[[], line(head, DIM)],
    ...lines.map((each) => line(`- ${printable(each)}`)),
  ])
  session.print([], line(describeSummary(summedUp), DIM), [], ...markdownLines(detail ?? "", session.columns), ...lists)
}
