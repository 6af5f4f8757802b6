import { Pencil } from "../../components/icons.tsx"
import { useRef, useState } from "react"
import type { MessageItem } from "../../../../client/index.ts"
import type { MessageFile } from "../../../../core/protocol/index.ts"
import { Button, CopyButton, IconButton } from "../../components/button.tsx"
import { Form, OnlyField, SubmitButton, messageKeys } from "../../components/form.tsx"
import { Plain } from "../../components/plain.tsx"
import type { OpenConversation } from "../../state/conversation.ts"
import { useStore } from "../../state/store.ts"
import { ImagesUnsupported, useImageSupport } from "../composer/use-send.tsx"
import { type EditedMessage, ShowAll, forkAndSend, loadFullText } from "./fork.tsx"
import { MessageFiles } from "../../components/file-chip.tsx"
import { t } from "../../strings/strings.ts"
import { time } from "../../strings/format.ts"

interface UserRowProps {
  readonly item: MessageItem
  readonly conversation: OpenConversation
}

/** A message of the person. Editing it creates a branch from there. */
export function UserRow({ item: { message }, conversation }: UserRowProps) {
  const [edited, setEdited] = useState<string>()
  const [isBack, setBack] = useState(false)
  const branch = useRef<Parameters<typeof forkAndSend>[3]["current"]>(undefined)
  // Editing needs the complete text.
  const edit = () => loadFullText(message, conversation).then(setEdited, () => {})
  if (edited !== undefined) {
    return (
      <EditMessage
        text={edited}
        conversation={conversation}
        files={message.files ?? []}
        onCancel={() => {
          branch.current = undefined
          setBack(true)
          setEdited(undefined)
        }}
        onDone={async (said) => {
          // The edited text stays until the branch has stored it.
          await forkAndSend(conversation, message, said, branch)
          branch.current = undefined
          setEdited(undefined)
        }}
      />
    )
  }
  return (
    <article aria-label={t("conversation.you")} className="group flex flex-col items-end pt-5 pb-1">
      {message.files && <MessageFiles files={message.files} />}
      <Words text={message.content} />
      <ShowAll message={message} conversation={conversation} />
      <div className="mt-0.5 flex h-7 items-center gap-0.5 text-xs text-faint opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
        <span className="px-1">{time(message.createdAt)}</span>
        <CopyButton label={t("conversation.copyMessage")} read={() => loadFullText(message, conversation)} />
        <IconButton label={t("conversation.editAndResend")} autoFocus={isBack} onClick={() => void edit()} small>
          <Pencil className="size-3.5" />
        </IconButton>
      </div>
    </article>
  )
}

export function Words({ text, faded = false }: { readonly text: string; readonly faded?: boolean }) {
  return (
    <div
      dir="auto"
      className={`max-w-[85%] rounded-2xl rounded-br-md bg-accent-soft px-4 py-2.5 whitespace-pre-wrap [overflow-wrap:anywhere] ${faded ? "opacity-60" : ""}`}
    >
      <Plain text={text} />
    </div>
  )
}

interface EditMessageProps {
  readonly text: string
  readonly files: readonly MessageFile[]
  readonly conversation: OpenConversation
  readonly onDone: (said: EditedMessage) => Promise<unknown>
  readonly onCancel: () => void
}

function EditMessage({ text, files, conversation, onDone, onCancel }: EditMessageProps) {
  const [words, setWords] = useState(text)
  const [wanted, setWanted] = useState(files)
  const [isAsking, setAsking] = useState(false)
  const form = useRef<HTMLFormElement>(null)
  /** The person accepted that the images are not read, or chose this model. */
  const agreed = useRef<{ readonly model?: string }>(undefined)
  const sight = useImageSupport(
    wanted.map(({ type }) => type),
    useStore(conversation.store).transcript.model ?? undefined,
  )
  const send = async () => {
    const { current: choice } = agreed
    agreed.current = undefined
    if (words.trim() === "") return
    if (sight.isBlind && !choice) return setAsking(true)
    setAsking(false)
    await onDone({ text: words, files: wanted, model: choice?.model })
  }
  const agree = (choice: { readonly model?: string }) => {
    agreed.current = choice
    form.current?.requestSubmit()
  }
  return (
    <Form ref={form} className="my-3 rounded-2xl border border-line bg-surface p-3" onSubmit={send}>
      {wanted.length > 0 && (
        <MessageFiles files={wanted} onRemove={(id) => setWanted(wanted.filter((file) => file.id !== id))} />
      )}
      <OnlyField>
        <textarea
          autoFocus
          aria-label={t("conversation.yourMessage")}
          rows={Math.min(10, words.split("\n").length + 1)}
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={messageKeys(onCancel)}
          className="w-full resize-none bg-transparent outline-none"
        />
      </OnlyField>
      {isAsking && sight.isBlind && (
        <div role="status" className="mb-2 text-[13px] text-warn">
          <ImagesUnsupported
            sight={sight}
            onUse={(model) => agree({ model })}
            onSendAnyway={() => agree({})}
            onCancel={() => setAsking(false)}
          />
        </div>
      )}
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="mr-auto text-[13px] text-faint">{t("conversation.resendHint")}</p>
        <Button small onClick={onCancel}>
          {t("common.cancel")}
        </Button>
        <SubmitButton small look="main" disabled={words.trim() === ""}>
          {t("conversation.resend")}
        </SubmitButton>
      </div>
    </Form>
  )
}
