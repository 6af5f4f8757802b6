import { meterWords } from "../../client/transcript/context-meter.ts"
import { gaveWayWords, keptLists } from "../../client/transcript/reply-words.ts"
import { markdownLines } from "../drawing/markdown-lines.ts"
import { DIM, line } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

/** Has what was said summed up, and says how full the conversation is. */
export async function compactCommand(talk: Talk): Promise<void> {
  const { conversation } = talk
  if (!conversation) return talk.print(line("! Nothing was said yet that could be summed up."))
  await talk.client.compactConversation({ params: { id: conversation.id } })
  const { context, model } = conversation.transcript
  const limitTokens = context?.limitTokens ?? talk.windows.get(model ?? "") ?? null
  const full = context ? `${meterWords({ ...context, limitTokens })} ` : ""
  talk.print(line(`${full}A summary is asked for; a line here says what came of it.`, DIM))
}

/** What the last summary says. */
export function summaryCommand(talk: Talk): void {
  const items = talk.conversation?.transcript.items ?? []
  const last = items.findLast((item) => item.type === "notice" && item.notice === "compacted")
  if (last?.type !== "notice") return talk.print(line("! Nothing that is shown here was summed up. /compact does it."))
  const { detail, summedUp = {} } = last
  const kept = keptLists(summedUp).flatMap(({ head, lines }) => [
    ...[[], line(head, DIM)],
    ...lines.map((each) => line(`- ${toShown(each)}`)),
  ])
  talk.print([], line(gaveWayWords(summedUp), DIM), [], ...markdownLines(detail ?? "", talk.columns), ...kept)
}
