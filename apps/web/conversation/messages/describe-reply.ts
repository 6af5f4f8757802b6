import { providerName } from "../../components/provider-name.ts"
import type { MessageItem, NoticeItem } from "../../../../client/index.ts"
import { LeftOut, type Usage, Waiting } from "../../../../core/protocol/index.ts"
import { dollars, list, timeWithSeconds } from "../../strings/format.ts"
import { type Key, t } from "../../strings/strings.ts"

/** How replies ended and what happened to a conversation, in sentences. */

/** Describes an unusual end of a reply; undefined for a normal one. */
export function describeEnding({ role, finish = "stop", content, toolCalls }: MessageItem["message"]) {
  if (role !== "assistant" || toolCalls !== null) return undefined
  const isEmpty = content.trim() === ""
  switch (finish) {
    case "limit":
      return t(isEmpty ? "conversation.endLimitEmpty" : "conversation.endLimit")
    case "refused":
      return t(isEmpty ? "conversation.endRefusedEmpty" : "conversation.endRefused")
    case "unknown":
      return t("conversation.endUnknown")
    case "cancelled":
      return t("conversation.endCancelled")
    case "broken":
      return t("conversation.endBroken")
    case "calls":
      return isEmpty ? t("conversation.endCalls") : undefined
    case "stop":
      return isEmpty ? t("conversation.endEmpty") : undefined
  }
}

/** Describes a notice in one line; undefined if there is nothing to show. */
export function describeNotice({ notice, detail }: Pick<NoticeItem, "notice" | "detail">): string | undefined {
  switch (notice) {
    case "restarted":
      if (detail === "crash") return t("conversation.noticeCrash")
      if (detail === "handover") return t("conversation.noticeHandover")
      return t("conversation.noticeRestarted", { cause: detail ?? "", provider: t("conversation.theProvider") })
    case "fallback":
      return withoutCode(detail)
    case "history_cut":
      return t("conversation.noticeHistoryCut", { number: detail ?? "" })
    case "compacted":
      return t("conversation.noticeCompacted")
    case "not_compacted":
      return t(NO_SUMMARY.get(detail ?? "") ?? "conversation.noticeSummaryFailed")
    case "cancelled":
      return detail === "forked" ? undefined : t("conversation.noticeStopped")
    case "failed":
      return t("conversation.noticeFailed", { reason: withoutCode(detail) }).trim()
  }
}

const NO_SUMMARY: ReadonlyMap<string, Key> = new Map([
  ["nothing_to_sum_up", "conversation.noticeNothingToSummarize"],
  ["switched_off", "conversation.noticeNoSummaryModel"],
  ["over_budget", "conversation.noticeSummaryBudget"],
])

/** The code before the sentence is for programs. */
const withoutCode = (detail: string | null): string => (detail ?? "").replace(/^[a-z_]+: /, "")

type SummedUp = NonNullable<NoticeItem["summedUp"]>

/** Describes what a summary replaced and what stays. Older servers did not send the counts. */
export function describeSummary({ messages = 0, tokens = 0 }: SummedUp): string {
  const replaced = t("conversation.summary", { count: messages })
  return tokens > 0 ? `${replaced} ${t("conversation.summaryFrees", { count: tokens })}` : replaced
}

/** Lists what a summary includes word for word, with a heading for each list. */
export function summaryLists({ kept }: SummedUp): { readonly head: string; readonly lines: readonly string[] }[] {
  const { decisions = [], proposals = [], sources = [] } = kept ?? {}
  const titles = sources.map(({ title, number }) => (number === undefined ? title : `[${number}] ${title}`))
  return [
    { head: t("conversation.keptDecisions"), lines: decisions },
    { head: t("conversation.keptProposals"), lines: proposals },
    { head: t("conversation.keptSources"), lines: titles },
  ].filter(({ lines }) => lines.length > 0)
}

/** Describes a `waiting` step; undefined for other steps. */
export function describeWaiting(step: string, detail: unknown): string | undefined {
  const waiting = step === "waiting" ? Waiting.safeParse(detail).data : undefined
  if (!waiting) return undefined
  const { because, seconds, until, attempt, attempts } = waiting
  const provider = providerName(waiting.provider)
  const wait = t("conversation.waitingFor", { cause: because, provider, seconds })
  if (until === undefined || attempt === undefined || attempts === undefined) return wait
  return `${wait} ${t("conversation.waitingAttempt", { attempt, attempts, time: timeWithSeconds(until) })}`
}

/** Describes a `left_out` step; undefined for other steps. */
export function describeLeftOut(step: string, detail: unknown): string | undefined {
  const left = step === "left_out" ? LeftOut.safeParse(detail).data : undefined
  if (!left) return undefined
  const settings = list(left.settings.map(({ name, because }) => `${name} (${because})`))
  return t("conversation.settingsIgnored", { model: left.model, settings })
}

/** Tokens and cost of model calls, as far as the provider reports them. */
export function usageText({ inputTokens, outputTokens, cost }: Usage): string {
  const tokens = (inputTokens ?? 0) + (outputTokens ?? 0)
  const parts = [
    tokens > 0 ? t("conversation.tokens", { count: tokens }) : "",
    cost === null || cost === undefined || (cost === 0 && tokens === 0) ? "" : dollars(cost),
  ]
  return parts.filter(Boolean).join(" · ")
}
