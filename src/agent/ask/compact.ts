import { createHash } from "node:crypto"
import { NO_SUMMARY } from "../../protocol/conversation/compaction.ts"
import type { AskedModel } from "../../protocol/conversation/stages.ts"
import { AppError, codeOf, hasCode } from "../../protocol/errors.ts"
import type { NewEvent } from "../../protocol/events.ts"
import { showHidden } from "../../protocol/hidden-words.ts"
import { newId } from "../../protocol/ids.ts"
import { mendText } from "../../protocol/text.ts"
import { cutPoint, messageText } from "../history.ts"
import { currentModel } from "../fallback.ts"
import { HISTORY_SHARE, type Model } from "../model.ts"
import type { Reservation } from "../ports.ts"
import { record, type Work } from "../record.ts"
import { askWhole, stoppedAside } from "./ask-aside.ts"
import { NO_SUMMARIES } from "./make-room.ts"
import { Reply } from "./reply.ts"
import { accounted, estimateOf, settle } from "./spend.ts"
import { givesWayBefore, keptWords, summaryRequest } from "./summary-request.ts"

/** A summary that the process died in is begun once more, and then no more. */
const MAX_DEATHS = 2
/** Of the model that reads it. */
const SUMMARY_SHARE = 0.15
const MAX_SUMMARY_TOKENS = 2000

/**
 * Sums up what is older than the words that are being answered: one question to a model, once. Where that fails, it is on
 * record that it did, and the next step cuts the history instead.
 */
export async function compact(work: Work): Promise<void> {
  const { conversation, ports } = work
  const { run, hasSeen, user } = conversation
  const end: NewEvent[] = run?.compacts ? [{ type: "run_ended", status: "completed", reason: "compaction" }] : []
  const fails = (problem: string, asked?: AskedModel) =>
    record(work, [{ type: "compaction", what: "failed", problem, ...(asked ? { asked } : {}) }, ...end])
  if ((run?.deaths ?? 0) >= MAX_DEATHS) return fails(NO_SUMMARY.died)
  const reservations: Reservation[] = []
  try {
    const model = await currentModel(work)
    const isAsked = run?.compacts || conversation.compaction.due === "asked"
    // Whoever asks for it wants all of it summed up that can be.
    const point = cutPoint(conversation, isAsked ? 0 : model.contextTokens * HISTORY_SHARE, "replaced")
    const older = point ? givesWayBefore(conversation, point.seq) : []
    const opensWithSummary = conversation.marks[0]?.isSummary === true
    const isNews = older.length > (opensWithSummary ? 1 : 0)
    if (!point || !isNews) return await fails(NO_SUMMARY.nothing)
    const asked = await summarizerOf(work, model)
    if (!asked) return await fails(NO_SUMMARY.off)
    const most = Math.min(MAX_SUMMARY_TOKENS, Math.floor(model.contextTokens * SUMMARY_SHARE))
    const request = summaryRequest(older, { room: asked.contextTokens * HISTORY_SHARE, most, opensWithSummary })
    const reply = await askWhole(work, { model: asked, request, reservations })
    const usage = accounted(asked, reply.usage, reservations.at(-1))
    const promptHash = createHash("sha256").update(request.system).digest("hex")
    const by: AskedModel = { model: asked.name, promptHash, tries: 1, ...(usage ? { usage } : {}) }
    const summary = mendText(
      showHidden(messageText(reply.parts))
        .trim()
        .slice(0, most * 4),
    )
    const outside = hasSeen.outside || hasSeen.brought ? { outside: newId("msg", user) } : {}
    if (summary === "" || reply.finish === "refused") await fails(summary === "" ? NO_SUMMARY.empty : "refused", by)
    else {
      const { seq, tokens } = point
      const kept = keptWords(conversation, older, { most })
      const made = { seq, tokens, messages: older.length, summary, kept, ...outside }
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
    if (!(error instanceof AppError)) ports.log.warn("compaction_failed", { conversation: conversation.id, error })
    return fails(codeOf(error) ?? "internal")
  }
}

/** The model of choice, or the conversation's own; undefined where there is none that can. */
async function summarizerOf({ conversation, ports }: Work, own: Model): Promise<Model | undefined> {
  const { summaryModel } = ports
  if (summaryModel === NO_SUMMARIES) return undefined
  const model = summaryModel === undefined ? own : await ports.models.get(summaryModel, conversation.user)
  return model.decides === false ? undefined : model
}
