import { type ReactNode, useEffect, useRef, useState } from "react"
import { type Mode, isImageType } from "../../../../core/protocol/index.ts"
import { attempt } from "../../components/explain.ts"
import { NameBox, Plain } from "../../components/plain.tsx"
import { catalogue } from "../../state/catalogue.ts"
import { useStore } from "../../state/store.ts"
import { rich, t } from "../../strings/strings.ts"
import type { ChosenFiles } from "./files.tsx"

type When = "queue" | "steer"

interface SendOptions {
  readonly files: ChosenFiles
  /** Whether there is anything to send. */
  readonly isReady: boolean
  /** The model that would answer; undefined for the server's default. */
  readonly model: string | undefined
  readonly mode: Mode
  readonly onChooseModel: (name: string) => Promise<void>
  readonly onSend: (when: When) => void
}

interface Sending {
  readonly send: (when: When) => void
  /** A question above the text that must be answered before sending. */
  readonly note: ReactNode
}

/** Sends the message once its files are uploaded. If the model cannot read its images, it asks first. */
export function useSend({ files, isReady, model, mode, onChooseModel, onSend }: SendOptions): Sending {
  const { underWay, hasFailed } = files
  const [waiting, setWaiting] = useState<When>()
  const [isRefused, setRefused] = useState(false)
  const [asking, setAsking] = useState<When>()
  const sight = useImageSupport(
    files.items.map(({ kept, blob }) => kept?.type ?? blob?.type ?? ""),
    model,
  )
  const proceed = (when: When, isAgreed = false) => {
    setAsking(undefined)
    // The message would be answered without the missing file.
    if (hasFailed) setRefused(true)
    else if (sight.isBlind && !isAgreed) setAsking(when)
    else onSend(when)
  }
  const latest = useRef(proceed)
  useEffect(() => {
    latest.current = proceed
  })
  useEffect(() => {
    if (waiting === undefined || underWay > 0) return
    setWaiting(undefined)
    latest.current(waiting)
  }, [waiting, underWay])
  useEffect(() => {
    if (!hasFailed) setRefused(false)
  }, [hasFailed])
  const { isBlind } = sight
  useEffect(() => {
    if (!isBlind) setAsking(undefined)
  }, [isBlind])
  const send = (when: When) => {
    if (!isReady) return
    if (underWay > 0) setWaiting(when)
    else proceed(when)
  }
  const useOther = (other: string, when: When) =>
    void attempt(async () => {
      await onChooseModel(other)
      // The field has been drawn with the chosen model by now.
      latest.current(when, true)
    })
  const note = waiting ? (
    <>
      {t("conversation.sendsWhenUploaded", { count: underWay })}{" "}
      <Choice onClick={() => setWaiting(undefined)}>{t("conversation.keepEditing")}</Choice>
    </>
  ) : asking && isBlind ? (
    <ImagesUnsupported
      sight={sight}
      onUse={(other) => useOther(other, asking)}
      onSendAnyway={() => proceed(asking, true)}
      onCancel={() => setAsking(undefined)}
    />
  ) : isRefused && hasFailed ? (
    t("conversation.notSentFailedFiles")
  ) : (
    mode === "auto" && files.items.length > 0 && t("conversation.autoAsks")
  )
  return { send, note }
}

interface ImageSupport {
  /** The message has an image, and the model cannot read images. */
  readonly isBlind: boolean
  /** Neither its endpoint nor a catalogue states it. */
  readonly isAssumed: boolean
  readonly model: string
  /** A usable model that reads images, of the same provider if possible. */
  readonly other: string | undefined
}

/** Whether the model can read images of these types. Unknown models are assumed to. */
export function useImageSupport(types: readonly string[], chosen: string | undefined): ImageSupport {
  const models = useStore(catalogue)?.models
  const name = chosen ?? models?.default ?? ""
  const model = models?.items.find((each) => each.name === name)
  const hasImages = types.some(isImageType)
  const seeing = models?.items.filter(({ available, features }) => available && features.includes("images")) ?? []
  const other = seeing.find(({ provider }) => provider === model?.provider) ?? seeing[0]
  return {
    isBlind: hasImages && model !== undefined && !model.features.includes("images"),
    isAssumed: model?.sources?.images === "assumed",
    ...{ model: name, other: other?.name },
  }
}

interface ImagesUnsupportedProps {
  readonly sight: ImageSupport
  readonly onUse: (model: string) => void
  readonly onSendAnyway: () => void
  readonly onCancel: () => void
}

/** Asks before a message is sent to a model that cannot read its images. */
export function ImagesUnsupported({
  sight: { isAssumed, model, other },
  onUse,
  onSendAnyway,
  onCancel,
}: ImagesUnsupportedProps) {
  return (
    <>
      {t(isAssumed ? "conversation.sightAssumed" : "conversation.sightNone")}
      <span className="block text-soft [overflow-wrap:anywhere]">
        {rich("conversation.modelNamed", { name: <Plain text={model} /> })}
      </span>
      <span className="mt-1 flex flex-wrap items-center gap-x-4 gap-y-1">
        {other !== undefined && (
          <Choice onClick={() => onUse(other)}>
            {rich("conversation.sendToInstead", { model: <NameBox text={other} inline /> })}
          </Choice>
        )}
        <Choice onClick={onSendAnyway}>{t("conversation.sendBlind")}</Choice>
        <Choice onClick={onCancel}>{t("conversation.keepEditing")}</Choice>
      </span>
    </>
  )
}

const Choice = ({ onClick, children }: { readonly onClick: () => void; readonly children: ReactNode }) => (
  <button type="button" className="text-accent underline underline-offset-2" onClick={onClick}>
    {children}
  </button>
)
