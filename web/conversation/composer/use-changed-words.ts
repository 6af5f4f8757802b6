import { useEffect, useRef, useState } from "react"
import type { QueuedMessage } from "../../../src/protocol/index.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { toast } from "../../state/toasts.ts"
import { restoreDraft } from "./draft.ts"

interface ChangedWords {
  /** What is written in the place of the message; undefined while nobody changes it. */
  readonly text: string | undefined
  readonly setText: (text: string | undefined) => void
  /** Notes that they are on their way. */
  readonly arriving: (sent: Promise<boolean>) => Promise<boolean>
}

/**
 * Other words for a message that waits. A run may take the message while they are written: they are then put into the
 * field below, unless they have arrived.
 */
export function useChangedWords(conversation: OpenConversation, message: QueuedMessage): ChangedWords {
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
        toast("The message was taken before it was changed. What you wrote is in the field below.")
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
    arriving: (coming) => (sent.current = coming),
  }
}
