import { ArrowUp, CornerDownRight, Square } from "../../components/icons.tsx"
import { useEffect, useRef, useState } from "react"
import type { MessageFile, Proposal } from "../../../../core/protocol/index.ts"
import { Button } from "../../components/button.tsx"
import { attempt } from "../../components/explain.ts"
import { useExpired } from "../../proposal/expiry.ts"
import { addFiles } from "../../state/chosen-files.ts"
import { client } from "../../state/client.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { toast } from "../../state/toasts.ts"
import { asksDatabases } from "./connection-picker.tsx"
import { ContextMeter } from "./context-meter.tsx"
import { readDraft, saveDraft } from "./draft.ts"
import { type ChosenFiles, FileButton, FileList, clear, useFiles } from "./files.tsx"
import { chooseModel, Pickers } from "./pickers.tsx"
import { stopRun } from "./program-note.tsx"
import { useSend } from "./use-send.tsx"
import type { SettledTranscript } from "../../state/use-settled-transcript.ts"
import { t } from "../../strings/strings.ts"

interface ComposerProps {
  readonly conversation: OpenConversation
  readonly transcript: SettledTranscript
  readonly draftKey: string
  readonly onSay: (text: string, when: "queue" | "steer", files: readonly MessageFile[]) => void
}

/** The field for messages. During a run a message waits for its end, or steers it. */
export function Composer({ conversation, transcript, draftKey, onSay }: ComposerProps) {
  const { status } = transcript
  const isRunning = status === "running"
  const open = openProposals(transcript)
  const expired = useExpired(open)
  const [text, setText] = useState(() => readDraft(draftKey))
  const files = useFiles(draftKey, (connectionId) => {
    if (!asksDatabases(transcript.agent)) return toast(t("conversation.becameDatabase"))
    const params = { id: conversation.id }
    void attempt(() => client.changeConversation({ params, body: { connectionId: connectionId as never } }))
  })
  const { send: say, note } = useSend({
    files,
    isReady: text.trim() !== "",
    model: transcript.model ?? undefined,
    mode: transcript.mode ?? "confirm",
    onChooseModel: (name) => chooseModel(conversation.id, name),
    onSend(when) {
      if (text.trim() === "") return
      onSay(text, when, files.kept)
      clear(files)
      setText("")
      saveDraft(draftKey, "")
    },
  })
  return (
    <ComposerBox
      text={text}
      files={files}
      note={note}
      onText={(next) => {
        setText(next)
        saveDraft(draftKey, next)
      }}
      onSend={() => say("queue")}
      placeholder={t(
        isRunning
          ? "conversation.placeholderRunning"
          : status === "awaiting_confirmation"
            ? open.length === 0
              ? "conversation.placeholderContinue"
              : open.length > expired.size
                ? "conversation.placeholderDecide"
                : "conversation.placeholderExpired"
            : "conversation.placeholder",
      )}
      pickers={
        <>
          <Pickers conversationId={conversation.id} transcript={transcript} />
          <ContextMeter conversationId={conversation.id} transcript={transcript} />
        </>
      }
    >
      {isRunning && text.trim() !== "" && (
        <Button small look="quiet" onClick={() => say("steer")} title={t("conversation.steerHint")}>
          <CornerDownRight className="size-4" /> {t("conversation.steer")}
        </Button>
      )}
      {isRunning && text.trim() === "" ? (
        <RoundButton label={t("common.stop")} onClick={() => void stopRun(conversation.id)}>
          <Square className="size-3.5 fill-current" />
        </RoundButton>
      ) : (
        <RoundButton
          label={t(isRunning ? "conversation.sendAfterRun" : "conversation.send")}
          disabled={text.trim() === ""}
          onClick={() => say("queue")}
        >
          <ArrowUp className="size-4.5" />
        </RoundButton>
      )}
    </ComposerBox>
  )
}

/** Proposals that block the run, expired or not. */
const openProposals = ({ items }: SettledTranscript): Proposal[] =>
  items.flatMap((item) => {
    if (item.type !== "proposal") return []
    const { proposal } = item
    return proposal.status === "pending" || proposal.status === "in_doubt" ? [proposal] : []
  })

interface ComposerBoxProps {
  readonly text: string
  readonly files: ChosenFiles
  /** A question that must be answered before sending. */
  readonly note: React.ReactNode
  readonly onText: (text: string) => void
  readonly onSend: () => void
  readonly placeholder: string
  readonly pickers: React.ReactNode
  readonly children: React.ReactNode
}

const MAX_HEIGHT = 240

/** The field: it grows with its text; Enter sends, Shift+Enter starts a line. */
export function ComposerBox({ text, files, note, onText, onSend, placeholder, pickers, children }: ComposerBoxProps) {
  const field = useRef<HTMLTextAreaElement>(null)
  useEffect(() => {
    const element = field.current
    if (!element) return
    element.style.height = "auto"
    element.style.height = `${Math.min(element.scrollHeight, MAX_HEIGHT)}px`
  }, [text])
  useEffect(() => {
    // On a phone the keyboard would cover the opened details.
    if (matchMedia("(pointer: fine)").matches) field.current?.focus()
  }, [])
  return (
    <div className="rounded-2xl border border-line bg-surface shadow-[0_1px_6px_rgb(0_0_0/0.05)] focus-within:border-accent">
      <FileList files={files} />
      <p role="status" className={note ? "px-4 pt-2 text-[13px] text-warn" : "sr-only"}>
        {note}
      </p>
      <textarea
        id="composer"
        ref={field}
        rows={1}
        value={text}
        placeholder={placeholder}
        aria-label={t("conversation.message")}
        onChange={(event) => onText(event.target.value)}
        onPaste={(event) => {
          const pasted = [...event.clipboardData.files]
          if (pasted.length === 0) return
          event.preventDefault()
          addFiles(files.draft, pasted)
        }}
        onKeyDown={(event) => {
          // Enter that ends a word of an input method does not send.
          if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          onSend()
        }}
        className="block w-full resize-none bg-transparent px-4 pt-3.5 pb-1 outline-none placeholder:text-faint"
      />
      <div className="flex items-center gap-1 px-2 pb-2">
        {/* On a phone they wrap instead of being cut to a few letters. */}
        <div className="flex min-w-0 flex-1 flex-wrap items-center">
          <FileButton files={files} />
          {pickers}
        </div>
        {children}
      </div>
    </div>
  )
}

interface RoundButtonProps {
  readonly label: string
  readonly disabled?: boolean
  readonly onClick: () => void
  readonly children: React.ReactNode
}

export function RoundButton({ label, disabled = false, onClick, children }: RoundButtonProps) {
  return (
    <button
      type="button"
      aria-label={label}
      title={label}
      disabled={disabled}
      onClick={onClick}
      className="grid size-9 shrink-0 place-items-center rounded-full bg-accent text-accent-ink transition-opacity hover:opacity-90 disabled:opacity-35"
    >
      {children}
    </button>
  )
}
