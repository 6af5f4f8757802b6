import { useState } from "react"
import type { MessageItem } from "../../../src/client/index.ts"
import { Button } from "../../parts/button.tsx"
import { count } from "../../parts/words.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { toast } from "../../state/toasts.ts"

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
      The beginning of {count(message.length ?? message.content.length, "character")}.
      <Button small disabled={isLoading} onClick={() => void load()}>
        {isLoading ? "Loading …" : "Show all"}
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
    toast("The rest of this message could not be loaded. Try again.", "bad")
    throw error
  }
}
