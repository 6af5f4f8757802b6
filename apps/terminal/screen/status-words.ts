import { formatContextUse } from "../../../client/transcript/context-meter.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import { dollars, duration } from "../../../client/words.ts"
import type { Usage } from "../../../core/protocol/conversation/message.ts"
import { chatText, modeNames } from "../../strings/chat.ts"
import type { Talk } from "../talk/talk.ts"

/** The last line: what goes on, and with what. */
export function statusWords(talk: Talk): string[] {
  const { conversation, choices, reached, isAway, isBusy, mode, usualModel } = talk
  const transcript = conversation?.transcript
  const usage = transcript?.usage ? usageWords(transcript.usage) : ""
  const since = transcript?.run && transcript.run.endedAt === null ? Date.parse(transcript.run.startedAt) : undefined
  const doing = transcript?.isSummingUp ? chatText.summarizing : chatText.working
  const works = isBusy ? chatText.doing(doing, since === undefined ? undefined : seconds(Date.now() - since)) : ""
  // What works there may work on, but nobody here can tell, or stop it.
  const state = isAway ? chatText.away : works
  const model = transcript?.model ?? choices.model ?? usualModel
  const agent = transcript?.agent ?? choices.agent ?? reached.begins.agent ?? ""
  // Where the line is too narrow its end is cut: what the newest run has used is in the sum, the folder is known.
  return [
    state,
    modeNames[mode] ?? mode,
    model,
    agent,
    fullness(transcript, talk.windows.get(model)),
    usage,
    reached.where,
  ].filter((part) => part !== "")
}

/** How much of what the model can read is taken, and what all of it has cost. */
function fullness(transcript: Transcript | undefined, known: number | undefined): string {
  if (!transcript?.context) return ""
  // After a change of the model the list of models knows what the new one can read.
  const context = { ...transcript.context, limitTokens: transcript.context.limitTokens ?? known ?? null }
  const { usedTokens: used, limitTokens: limit, costUsd: cost } = context
  // Of an empty one nothing is said: a narrow line has no room for it.
  if (limit !== null && used * 100 < limit && !cost) return ""
  const words = formatContextUse(context)
  if (!words) return ""
  return chatText.context(words, cost ? dollars(cost) : undefined)
}

/** Whole ones: tenths would only flicker. */
const seconds = (ms: number): string => duration(Math.max(1, Math.round(ms / 1000)) * 1000).replace(".0", "")

/** What model calls have used and cost, as far as their provider says. */
function usageWords({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  if (tokens === 0) return ""
  return chatText.tokens(tokens, cost ? dollars(cost) : undefined)
}
