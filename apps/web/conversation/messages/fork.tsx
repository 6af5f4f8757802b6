import { useState } from "react"
import { type MessageItem, titleOf } from "../../../../client/index.ts"
import type { MessageFile } from "../../../../core/protocol/index.ts"
import { Button } from "../../parts/button.tsx"
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
  /** The model that answers; undefined: the one that the conversation has now. */
  readonly model: string | undefined
}

/**
 * Begins anew before a message of the person, with other words in its place, and with those of its files that are still
 * wanted. The model that the conversation has now answers, even if it had another one at that message. The branch is noted as soon as there is one: where what comes after fails, asking again makes no second one.
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
  // What was named after its first words is named after the new ones.
  if (isFirst) await client.changeConversation({ params: { id }, body: { title: titleOf(text) } })
  navigate(`/c/${id}`)
  sendMessage({ conversationId: id }, text, "queue", files)
}

/** Begins anew after a reply: with everything up to the next words of the person. */
export async function forkAfter(conversation: OpenConversation, messageId: string): Promise<void> {
  const { items, cursor } = conversation.store.value.transcript
  const index = items.findIndex(({ key }) => key === messageId)
  const next = items.slice(index + 1).find((item) => item.type === "message" && item.message.role === "user")
  const body = next?.type === "message" ? { before: next.message.id } : { position: Number(cursor.split(".")[0]) }
  const { id } = await client.forkConversation({ params: { id: conversation.id }, body })
  navigate(`/c/${id}`)
  toast(t("conversation.branched"))
}

/** Begins anew before a message of the person, whose words wait in the field of the branch to be changed or left out. */
export async function forkBefore(conversation: OpenConversation, message: MessageItem["message"]): Promise<void> {
  const { id: messageId, files = [] } = message
  const text = await wholeOf(message, conversation)
  const { id } = await client.forkConversation({ params: { id: conversation.id }, body: { before: messageId } })
  restoreDraft(id, text, files)
  navigate(`/c/${id}`)
  toast(t("conversation.branched"))
}

interface ShowAllProps {
  readonly message: MessageItem["message"]
  readonly conversation: OpenConversation
}

/** Below the beginning of a long message: how much there is, and the way to the rest. */
export function ShowAll({ message, conversation }: ShowAllProps) {
  const [isLoading, setLoading] = useState(false)
  if (!message.truncated) return null
  const load = async () => {
    setLoading(true)
    try {
      await wholeOf(message, conversation)
    } catch {
      setLoading(false) // told by a toast; the beginning is still there, and so is the button
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

/** All words of a message, for what must not be done with its beginning. */
export async function wholeOf(message: MessageItem["message"], conversation: OpenConversation): Promise<string> {
  if (!message.truncated) return message.content
  try {
    return await conversation.loadWhole(message.id)
  } catch (error) {
    toast(t("conversation.restNotLoaded"), "bad")
    throw error
  }
}
