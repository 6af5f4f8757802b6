import { useEffect, useRef, useState } from "react"
import { hasCode } from "../../../../client/index.ts"
import type { ConversationStatus, QueuedMessage } from "../../../../core/protocol/index.ts"
import { CornerDownRight, ListEnd, Paperclip, Pencil, X } from "../../components/icons.tsx"
import { Button, IconButton } from "../../components/button.tsx"
import { Form, OnlyField, SubmitButton, messageKeys } from "../../components/form.tsx"
import { Plain } from "../../components/plain.tsx"
import { useAttempt } from "../../components/explain.ts"
import { client } from "../../state/client.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { toast } from "../../state/toasts.ts"
import { t } from "../../strings/strings.ts"
import { restoreDraft } from "./draft.ts"

interface QueueListProps {
  readonly conversation: OpenConversation
  readonly queue: readonly QueuedMessage[]
  readonly status: ConversationStatus | null
}

/**
 * Messages that wait for the end of the run. They can be edited and withdrawn, and sent at once if the run was
 * cancelled.
 */
export function QueueList({ conversation, queue, status }: QueueListProps) {
  if (queue.length === 0) return null
  // The run before them was cancelled, so nothing will send them.
  const isHeld = status === "active" || status === "failed"
  return (
    <ul aria-label={t("conversation.queuedMessages")} className="mb-2 space-y-1">
      {queue.map((message) => (
        <Queued key={message.id} message={message} conversation={conversation} isHeld={isHeld} />
      ))}
    </ul>
  )
}

interface QueuedProps {
  readonly message: QueuedMessage
  readonly conversation: OpenConversation
  readonly isHeld: boolean
}

function Queued({ message, conversation, isHeld }: QueuedProps) {
  const { text, setText, arriving } = useEditedText(conversation, message)
  const { once } = useAttempt()
  const params = { id: conversation.id, messageId: message.id }
  const act = async (work: () => Promise<unknown>) => {
    await once(work)
    await conversation.refreshQueue()
  }
  const save = async () => {
    if (text === undefined || text.trim() === "") return setText(undefined)
    // The text stays until the server has stored it.
    await arriving(client.editQueued({ params, body: { text } }).finally(() => void conversation.refreshQueue()))
    setText(undefined)
  }
  if (text !== undefined) {
    return (
      <li>
        <Form className="flex flex-wrap gap-2" onSubmit={save}>
          {/* A single-line field would join the lines. */}
          <OnlyField>
            <textarea
              autoFocus
              aria-label={t("conversation.queuedMessage")}
              rows={Math.min(6, text.split("\n").length)}
              value={text}
              onChange={(event) => setText(event.target.value)}
              onKeyDown={messageKeys(() => setText(undefined))}
              className="field min-h-9 min-w-0 flex-1 resize-none text-sm"
            />
          </OnlyField>
          <SubmitButton>{t("common.save")}</SubmitButton>
        </Form>
      </li>
    )
  }
  const Icon = message.when === "steer" ? CornerDownRight : ListEnd
  return (
    <li className="flex items-center gap-2 rounded-xl border border-dashed border-line px-3 py-0.5 text-sm text-soft">
      <Icon
        className="size-4 shrink-0 text-faint"
        aria-label={t(message.when === "steer" ? "conversation.steersRun" : "conversation.queued")}
      />
      <span className="min-w-0 flex-1 truncate">
        <Plain text={message.text} />
      </span>
      {message.files && (
        <span className="flex max-w-40 items-center gap-1 text-xs text-faint">
          <Paperclip className="size-3.5 shrink-0" aria-hidden="true" />
          <span className="truncate">
            <Plain text={message.files.map(({ name }) => name).join(", ")} />
          </span>
        </span>
      )}
      {isHeld && (
        <Button small onClick={() => void act(() => client.sendQueued({ params }))}>
          {t("conversation.sendNow")}
        </Button>
      )}
      <IconButton label={t("conversation.editQueued")} onClick={() => setText(message.text)}>
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton
        label={t("conversation.unqueue")}
        onClick={() => void act(() => withdrawQueued(conversation.id, message))}
      >
        <X className="size-4" />
      </IconButton>
    </li>
  )
}

/** Messages that a request without a response may have withdrawn. */
const maybeBack = new Set<string>()

/**
 * Withdraws a queued message and restores it to the field, with its files. Rejects if the message is already running.
 */
async function withdrawQueued(conversationId: string, { id, text, files }: QueuedMessage): Promise<void> {
  try {
    await client.withdrawQueued({ params: { id: conversationId, messageId: id } })
  } catch (error) {
    // The response was lost, and the message is gone without having been sent: so it was withdrawn.
    const isBack = maybeBack.has(id) && hasCode(error, "not_found")
    if (hasCode(error, "unreachable")) maybeBack.add(id)
    if (!isBack) throw error
  }
  maybeBack.delete(id)
  restoreDraft(conversationId, text, files)
}

interface EditedText {
  /** The edited text; undefined while the message is not being edited. */
  readonly text: string | undefined
  readonly setText: (text: string | undefined) => void
  /** Tracks a request until it completes. */
  readonly arriving: (sent: Promise<unknown>) => Promise<unknown>
}

/**
 * The edited text of a queued message. If a run takes the message meanwhile, the text moves to the field below, unless
 * it has been saved.
 */
function useEditedText(conversation: OpenConversation, message: QueuedMessage): EditedText {
  const [text, setText] = useState<string>()
  const unsaved = useRef<string>(undefined)
  const sent = useRef<Promise<boolean>>(undefined)
  const isChanged = text !== undefined && text.trim() !== "" && text !== message.text
  useEffect(() => {
    unsaved.current = isChanged ? text : undefined
  })
  useEffect(
    () => () => {
      const words = unsaved.current
      const waits = conversation.store.value.queue.some(({ id }) => id === message.id)
      if (words === undefined || waits) return
      void (sent.current ?? Promise.resolve(false)).then((hasArrived) => {
        if (hasArrived) return
        restoreDraft(conversation.id, words)
        toast(t("conversation.sentBeforeEdit"))
      })
    },
    [conversation, message.id],
  )
  return {
    text,
    setText: (next) => {
      sent.current = undefined
      setText(next)
    },
    arriving: (coming) => {
      sent.current = coming.then(
        () => true,
        () => false,
      )
      return coming
    },
  }
}
