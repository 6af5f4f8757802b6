import type { MessageItem } from "../../../src/client/index.ts"
import type { MessageFile } from "../../../src/protocol/index.ts"
import { titleOf } from "../../parts/words.ts"
import { client } from "../../state/client.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { say } from "../../state/outbox.ts"
import { navigate } from "../../state/router.ts"
import { toast } from "../../state/toasts.ts"

/**
 * Begins anew before a message of the person, with other words in its place, and with those of its files that are still
 * wanted. The branch is noted as soon as there is one: where what comes after fails, asking again makes no second one.
 */
export async function forkAndSay(
  conversation: OpenConversation,
  { id: messageId }: MessageItem["message"],
  { text, files }: { readonly text: string; readonly files: readonly MessageFile[] },
  branch: { current: string | undefined },
): Promise<void> {
  const { transcript } = conversation.store.value
  const isFirst = transcript.items.find((item) => item.type === "message")?.key === messageId
  const params = { id: conversation.id }
  const id = (branch.current ??= (await client.forkConversation({ params, body: { before: messageId } })).id)
  // What was named after its first words is named after the new ones.
  if (isFirst) await client.changeConversation({ params: { id }, body: { title: titleOf(text) } })
  navigate(`/c/${id}`)
  say({ conversationId: id }, text, "queue", files)
}

/** Begins anew after a reply: with everything up to the next words of the person. */
export async function forkAfter(conversation: OpenConversation, messageId: string): Promise<void> {
  const { items, cursor } = conversation.store.value.transcript
  const index = items.findIndex(({ key }) => key === messageId)
  const next = items.slice(index + 1).find((item) => item.type === "message" && item.message.role === "user")
  const body = next?.type === "message" ? { before: next.message.id } : { position: Number(cursor.split(".")[0]) }
  const { id } = await client.forkConversation({ params: { id: conversation.id }, body })
  navigate(`/c/${id}`)
  toast("This is a branch. The conversation it comes from stays as it is.")
}
