import { NO_SUMMARY } from "../../protocol/conversation/compaction.ts"
import type { AskedModel } from "../../protocol/conversation/stages.ts"
import { AppError, codeOf, hasCode } from "../../protocol/errors.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { showHidden } from "../../protocol/text/hidden-words.ts"
import { newId } from "../../protocol/ids.ts"
import { mendText } from "../../protocol/text/text.ts"
import { cutPoint } from "../history/cut.ts"
import { messageText } from "../history/parts.ts"
import { digestAside } from "../history/question-digest.ts"
import { estimateTokens, withinTokens } from "../history/tokens.ts"
import { currentModel, fallBack, spare } from "../fallback.ts"
import type { Conversation } from "../conversation.ts"
import { HISTORY_SHARE, type HistoryMessage, type Model } from "../model.ts"
import type { Reservation } from "../ports.ts"
import { record, type Work } from "../record.ts"
import { summaryWords } from "../history/summary-words.ts"
import { askWhole, stoppedAside } from "./ask-aside.ts"
import { NO_SUMMARIES } from "./make-room.ts"
import { Reply } from "./reply.ts"
import { accounted, estimateOf, settle } from "./spend.ts"
import { givesWayBefore, keptWords, summaryRequest } from "./summary-request.ts"

/** A summary that the process died in is begun once more, and then no more. */
const MAX_DEATHS = 2
/** Of the model that reads it, for all that it is told: the words of the summary, and what is kept beside them. */
const SUMMARY_SHARE = 0.15
/** Of that, for what is kept. */
const KEPT_SHARE = 0.5
/** Of the time of a run, for all that are asked: a long summary takes minutes, and then there is still something to answer. */
const TIME_SHARE = 2 / 3
const MAX_SUMMARY_TOKENS = 2000

/**
 * Sums up what is older than the words that are being answered: one question to a model, once. Where the model of choice
 * fails, the conversation's own is asked; where that cannot answer, the next of its list. Where all of it fails, it is on
 * record that it did, and the next step cuts the history instead.
 */
export async function compact(work: Work): Promise<void> {
  const { conversation, ports } = work
  const { run, user } = conversation
  const end: NewEvent[] = run?.compacts ? [{ type: "run_ended", status: "completed", reason: "compaction" }] : []
  const fails = (problem: string, asked?: AskedModel) =>
    record(work, [{ type: "compaction", what: "failed", problem, ...(asked ? { asked } : {}) }, ...end])
  if ((run?.deaths ?? 0) >= MAX_DEATHS) return fails(NO_SUMMARY.died)
  const reservations: Reservation[] = []
  let [model, asked]: (Model | undefined)[] = []
  const isOwn = () => asked?.name === model?.name
  /** By the model of choice it failed: recorded, and the loop comes back for it with the conversation's own. */
  const failsOrOwn = (problem: string, by?: AskedModel) => {
    const own = isOwn() ? undefined : byOwn(work, model, { problem, ...(by ? { asked: by } : {}) })
    return own ? record(work, [own]) : fails(problem, by)
  }
  try {
    model = await currentModel(work)
    const part = partToSumUp(conversation, model)
    if (!part) return await fails(NO_SUMMARY.nothing)
    asked = await summarizerOf(work, model)
    if (!asked) return await fails(NO_SUMMARY.off)
    const spared = isOwn() ? await spare(work, model, tokensToRead(work, model)) : undefined
    if (spared) return await record(work, [spared])
    const { request, words, kept, outside } = toSummaryRequest(conversation, part, { model, asked })
    const share = isOwn() && !run?.sumsUpItself ? TIME_SHARE : TIME_SHARE / 2
    const seconds = Math.round(ports.limits.runSeconds * share)
    const reply = await askWhole(work, { model: asked, request, reservations, seconds })
    const usage = accounted(asked, reply.usage, reservations.at(-1))
    const by: AskedModel = { model: asked.name, ...digestAside(request), tries: 1, ...(usage ? { usage } : {}) }
    const summary = withinTokens(mendText(showHidden(messageText(reply.parts))).trim(), words)
    if (summary === "" || reply.finish === "refused")
      await failsOrOwn(summary === "" ? NO_SUMMARY.empty : "refused", by)
    else {
      const told = { summary, kept, ...outside }
      const tokens = part.tokens - estimateTokens(summaryWords(told))
      const made = { seq: part.seq, tokens, messages: part.older.length, ...told }
      await record(work, [{ type: "compaction", what: "summary", ...made, asked: by }, ...end])
    }
    for (const reservation of reservations) await settle(work, reservation)
  } catch (error) {
    if (hasCode(error, "store_unavailable") || hasCode(error, "lease_lost")) throw error
    if (work.signal.aborted) {
      // What was answered before that is on no record, and has to be paid for all the same.
      for (const each of reservations)
        await settle(work, each, estimateOf(each, new Reply(each.model.name, user, ports.clock)))
      return stoppedAside(work)
    }
    // Recorded, and the loop comes back for it with that one. A model of choice for summaries has no list.
    const from = model?.name ?? run?.fallback?.model ?? conversation.model ?? ""
    const next = !model || isOwn() ? await fallBack(work, from, error, model && tokensToRead(work, model)) : undefined
    if (next) return record(work, [next])
    if (!(error instanceof AppError)) ports.log.warn("compaction_failed", { conversation: conversation.id, error })
    return failsOrOwn(codeOf(error) ?? "internal")
  }
}

interface PartToSumUp {
  readonly seq: number
  readonly tokens: number
  readonly older: readonly HistoryMessage[]
}

/** What gives way to a summary for this model; undefined where nothing new would. */
export function partToSumUp(conversation: Conversation, model: Model): PartToSumUp | undefined {
  const isAsked = conversation.run?.compacts || conversation.compaction.due === "asked"
  // Whoever asks for it wants all of it summed up that can be.
  const point = cutPoint(conversation, isAsked ? 0 : model.contextTokens * HISTORY_SHARE, "replaced")
  if (!point) return undefined
  const older = givesWayBefore(conversation, point.seq)
  const isNews = older.length > (opensWithSummary(conversation) ? 1 : 0)
  return isNews ? { seq: point.seq, tokens: point.tokens, older } : undefined
}

const opensWithSummary = ({ marks }: Conversation): boolean => marks[0]?.isSummary === true

/** What is asked for it, and what the summary will stand beside. `model` will read it, `asked` is asked. */
export function toSummaryRequest(
  conversation: Conversation,
  { older }: PartToSumUp,
  { model, asked }: { readonly model: Model; readonly asked: Model },
) {
  const { hasSeen, user } = conversation
  const most = Math.min(MAX_SUMMARY_TOKENS, Math.floor(model.contextTokens * SUMMARY_SHARE))
  const outside = hasSeen.outside || hasSeen.brought ? { outside: newId("msg", user) } : {}
  const kept = keptWords(conversation, older, { most: most * KEPT_SHARE })
  const words = Math.max(most - estimateTokens(summaryWords({ kept, ...outside })), Math.floor(most / 4))
  const bounds = { room: asked.contextTokens * HISTORY_SHARE, most: words }
  const request = summaryRequest(older, { ...bounds, opensWithSummary: opensWithSummary(conversation) })
  return { request, words, kept, outside }
}

/**
 * The event by which the conversation's own model is asked for it, once in a run: no model is asked twice for one need. A
 * ceiling stands: the own one would as a rule cost more. What the other has cost is on the event, and so on the bill.
 */
function byOwn(
  { conversation: { run, compaction }, ports: { summaryModel } }: Work,
  own: Model | undefined,
  failed: { readonly problem: string; readonly asked?: AskedModel },
): NewEvent | undefined {
  const isChosen = summaryModel !== undefined && summaryModel !== NO_SUMMARIES && !run?.sumsUpItself
  if (!isChosen || !own || own.decides === false || failed.problem === "over_budget") return undefined
  return { type: "compaction", what: "due", because: compaction.due ?? "asked", ...failed }
}

/** What another model has to be able to read in place of this one: the history as it will be, with the summary. */
const tokensToRead = ({ conversation: { tokens } }: Work, { contextTokens }: Model): number =>
  Math.min(tokens, contextTokens * HISTORY_SHARE)

/** The model of choice, or the conversation's own; undefined where there is none that can. */
async function summarizerOf({ conversation, ports }: Work, own: Model): Promise<Model | undefined> {
  const { summaryModel } = ports
  if (summaryModel === NO_SUMMARIES) return undefined
  const isOwn = summaryModel === undefined || conversation.run?.sumsUpItself
  const model = isOwn ? own : await ports.models.get(summaryModel, conversation.user)
  return model.decides === false ? undefined : model
}
