import { formatContextUse } from "../../../client/transcript/context-meter.ts"
import type { Transcript } from "../../../client/transcript/transcript.ts"
import { dollars, duration } from "../../../client/format.ts"
import type { Usage } from "../../../core/protocol/conversation/message.ts"
import { chatText, modeNames } from "../../strings/chat.ts"
import type { TerminalSession } from "../session/terminal-session.ts"

/** The status line: what is running, and with which settings. */
export function statusLine(session: TerminalSession): string[] {
  const { conversation, choices, server, isDisconnected, isBusy, mode, defaultModel } = session
  const transcript = conversation?.transcript
  const usage = transcript?.usage ? formatUsageTokens(transcript.usage) : ""
  const since = transcript?.run && transcript.run.endedAt === null ? Date.parse(transcript.run.startedAt) : undefined
  const doing = transcript?.isSummingUp ? chatText.summarizing : chatText.working
  const works = isBusy ? chatText.doing(doing, since === undefined ? undefined : seconds(Date.now() - since)) : ""
  // While disconnected it is unknown whether the run still works, and it cannot be cancelled.
  const state = isDisconnected ? chatText.away : works
  const model = transcript?.model ?? choices.model ?? defaultModel
  const agent = transcript?.agent ?? choices.agent ?? server.defaults.agent ?? ""
  // A narrow screen cuts the end: the usage is also part of the cost, and the folder is known.
  return [
    state,
    modeNames[mode] ?? mode,
    model,
    agent,
    fullness(transcript, session.windows.get(model)),
    usage,
    server.where,
  ].filter((part) => part !== "")
}

/** How full the context is, and what the conversation has cost. */
function fullness(transcript: Transcript | undefined, known: number | undefined): string {
  if (!transcript?.context) return ""
  // After a change of the model its context size is known from the list of models.
  const context = { ...transcript.context, limitTokens: transcript.context.limitTokens ?? known ?? null }
  const { usedTokens: used, limitTokens: limit, costUsd: cost } = context
  // An almost empty context is not worth the room.
  if (limit !== null && used * 100 < limit && !cost) return ""
  const words = formatContextUse(context)
  if (!words) return ""
  return chatText.context(words, cost ? dollars(cost) : undefined)
}

/** Whole seconds: tenths would flicker. */
const seconds = (ms: number): string => duration(Math.max(1, Math.round(ms / 1000)) * 1000).replace(".0", "")

/** Tokens and cost of the run, as far as the provider reports them. */
function formatUsageTokens({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  if (tokens === 0) return ""
  return chatText.tokens(tokens, cost ? dollars(cost) : undefined)
}
