import { Popup } from "../../components/menu.tsx"
import { useState } from "react"
import { Button } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { catalogue } from "../../state/catalogue.ts"
import { client } from "../../state/client.ts"
import { useStore } from "../../state/store.ts"
import type { SettledTranscript } from "../../state/use-settled-transcript.ts"
import { dollars, percent, tokenCount } from "../../strings/format.ts"
import { t } from "../../strings/strings.ts"
import { PickerButton } from "./model-picker.tsx"

interface ContextSignProps {
  readonly conversationId: string
  readonly transcript: SettledTranscript
}

/** How much of the context window is used. It opens to show the details, and to summarize. */
export function ContextMeter({ conversationId, transcript: { context, model, isSummingUp } }: ContextSignProps) {
  const models = useStore(catalogue)?.models.items ?? []
  const [isOpen, setOpen] = useState(false)
  if (!context) return null
  // After a change of the model its context size is known from the catalogue.
  const limitTokens = context.limitTokens ?? models.find(({ name }) => name === model)?.contextTokens ?? null
  const { usedTokens, costUsd, estimated } = context
  if (usedTokens === 0) return null
  const used = estimated ? t("common.about", { time: tokenCount(usedTokens) }) : tokenCount(usedTokens)
  const makeRoom = () => {
    setOpen(false)
    void compact(conversationId)
  }
  return (
    <Popup
      label={t("conversation.context")}
      side="top"
      isOpen={isOpen}
      onOpenChange={setOpen}
      className="flex w-[min(20rem,calc(100vw-1rem))] flex-col items-start gap-2.5 p-3.5"
      trigger={<PickerButton label={t("conversation.context")} shown={contextUse(usedTokens, limitTokens)} />}
    >
      <p>
        {limitTokens === null
          ? t("conversation.contextShown", { used })
          : t("conversation.contextShownOf", { used, limit: tokenCount(limitTokens) })}{" "}
        {costUsd !== null &&
          (costUsd === 0 ? t("conversation.contextFree") : t("conversation.contextCost", { cost: dollars(costUsd) }))}
      </p>
      <p className="text-[13px] text-soft">{t("conversation.contextHint")}</p>
      <Button small disabled={isSummingUp} onClick={makeRoom}>
        {t(isSummingUp ? "conversation.summarizing" : "conversation.summarizeNow")}
      </Button>
    </Popup>
  )
}

/** `32% of 8k`, or `1.2k tokens` if the limit is unknown. */
function contextUse(used: number, limit: number | null): string {
  if (limit === null) return t("conversation.contextTokens", { used: tokenCount(used) })
  const share = Math.min(1, used / Math.max(1, limit))
  return t("conversation.contextUse", { percent: percent(share), limit: tokenCount(limit) })
}

/** A command that people can type, as in the terminal. */
export const COMPACT = "/compact"

/** Requests a summary: now, or before the next reply. The conversation reports when it is done. */
export const compact = (id: string): Promise<boolean> => attempt(() => client.compactConversation({ params: { id } }))
