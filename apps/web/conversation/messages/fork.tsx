import { useState } from "react"
import { type MessageItem, titleOf } from "../../../../client/index.ts"
import type { MessageFile } from "../../../../core/protocol/index.ts"
import { Button } from "../../components/button.tsx"
import { client } from "../../state/client.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { sendMessage } from "../../state/outbox.ts"
import { navigate } from "../../state/router.ts"
import { toast } from "../../state/toasts.ts"
import { t } from "../../strings/strings.ts"
import { restoreDraft } from "../composer/draft.ts"

export interface EditedMessage {
  readonly text: string
  readonly files: readonly MessageFile[]
  /** The model that answers; undefined for the current one. */
  readonly model: string | undefined
}

/**
 * Creates a branch before a message of the person and sends another text there, with the files that are still wanted.
 * The conversation's current model answers. The branch is recorded as soon as it exists: if a later request fails, the
 * next attempt uses the same branch.
 */
export async function forkAndSend(
  conversation: OpenConversation,
  { id: messageId }: MessageItem["message"],
  { text, files, model }: EditedMessage,
  branch: { current: { readonly id: string; model: string | null } | undefined },
): Promise<void> {
  const { transcript } = conversation.store.value
  const isFirst = transcript.items.find((item) => item.type === "message")?.key === messageId
  const params = { id: conversation.id }
  const forked = (branch.current ??= await client.forkConversation({ params, body: { before: messageId } }))
  const { id } = forked
  const wanted = model ?? transcript.model
  if (wanted !== null && wanted !== forked.model) {
    await client.chooseModel({ params: { id }, body: { name: wanted } })
    forked.model = wanted
  }
  // A title that was derived from the first message is derived from the new one.
  if (isFirst) await client.changeConversation({ params: { id }, body: { title: titleOf(text) } })
  navigate(`/c/${id}`)
  sendMessage({ conversationId: id }, text, "queue", files)
}

/** Creates a branch after a reply: with everything up to the person's next message. */
export async function forkAfter(conversation: OpenConversation, messageId: string): Promise<void> {
  const { items, cursor } = conversation.store.value.transcript
  const index = items.findIndex(({ key }) => key === messageId)
  const next = items.slice(index + 1).find((item) => item.type === "message" && item.message.role === "user")
  const body = next?.type === "message" ? { before: next.message.id } : { position: Number(cursor.split(".")[0]) }
  const { id } = await client.forkConversation({ params: { id: conversation.id }, body })
  navigate(`/c/${id}`)
  toast(t("conversation.branched"))
}

/** Creates a branch before a message of the person and puts the message into its field. */
export async function forkBefore(conversation: OpenConversation, message: MessageItem["message"]): Promise<void> {
  const { id: messageId, files = [] } = message
  const text = await loadFullText(message, conversation)
  const { id } = await client.forkConversation({ params: { id: conversation.id }, body: { before: messageId } })
  restoreDraft(id, text, files)
  navigate(`/c/${id}`)
  toast(t("conversation.branched"))
}

interface ShowAllProps {
  readonly message: MessageItem["message"]
  readonly conversation: OpenConversation
}

/** Below a shortened message: its length, and a button to load the rest. */
export function ShowAll({ message, conversation }: ShowAllProps) {
  const [isLoading, setLoading] = useState(false)
  if (!message.truncated) return null
  const load = async () => {
    setLoading(true)
    try {
      await loadFullText(message, conversation)
    } catch {
      setLoading(false) // reported by a toast; the button stays
    }
  }
  return (
    <p className="mt-2 flex flex-wrap items-center gap-3 text-sm text-soft">
      {t("conversation.showingBeginning", { count: message.length ?? message.content.length })}
      <Button small disabled={isLoading} onClick={() => void load()}>
        {t(isLoading ? "common.loading" : "conversation.showAll")}
      </Button>
    </p>
  )
}

/** Loads the complete text of a message, for actions that need all of it. */
export async function loadFullText(message: MessageItem["message"], conversation: OpenConversation): Promise<string> {
  if (!message.truncated) return message.content
  try {
    return await conversation.loadWhole(message.id)
  } catch (error) {
    toast(t("conversation.restNotLoaded"), "bad")
    throw error
  }
}
