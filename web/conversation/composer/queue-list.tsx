import { CornerDownRight, ListEnd } from "../../icons/arrows.ts"
import { X } from "../../icons/signs.ts"
import { Paperclip, Pencil } from "../../icons/things.ts"
import type { ConversationStatus, QueuedMessage } from "../../../src/protocol/index.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { useAttempt } from "../../parts/use-attempt.ts"
import { Plain } from "../../parts/plain.tsx"
import { client } from "../../state/client.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { takeBackQueued } from "./take-back.ts"
import { useChangedWords } from "./use-changed-words.ts"

interface QueueListProps {
  readonly conversation: OpenConversation
  readonly queue: readonly QueuedMessage[]
  readonly status: ConversationStatus | null
}

/** Messages that wait until the run is done. Until then they can be changed, taken back, and sent where it was stopped. */
export function QueueList({ conversation, queue, status }: QueueListProps) {
  if (queue.length === 0) return null
  // Nothing is at work, and still they wait: the run before them was stopped.
  const isHeld = status === "active" || status === "failed"
  return (
    <ul aria-label="Messages that wait" className="mb-2 space-y-1">
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
  const { text, setText, arriving } = useChangedWords(conversation, message)
  const { once, isBusy } = useAttempt()
  const params = { id: conversation.id, messageId: message.id }
  const act = async (work: () => Promise<unknown>) => {
    const isDone = await once(work)
    await conversation.refreshQueue()
    return isDone
  }
  if (text !== undefined) {
    return (
      <li>
        <form
          className="flex gap-2"
          onSubmit={(event) => {
            event.preventDefault()
            if (text.trim() === "") return setText(undefined)
            // What was written stays until the server has it.
            void arriving(act(() => client.editQueued({ params, body: { text } }))).then(
              (isDone) => isDone && setText(undefined),
            )
          }}
        >
          {/* A field of one line would glue together what stands on several. */}
          <textarea
            autoFocus
            aria-label="Message that waits"
            rows={Math.min(6, text.split("\n").length)}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
                event.preventDefault()
                event.currentTarget.form?.requestSubmit()
              }
              if (event.key !== "Escape") return
              event.preventDefault()
              setText(undefined)
            }}
            className="field min-h-9 resize-none text-sm"
          />
          <Button type="submit" disabled={isBusy}>
            Save
          </Button>
        </form>
      </li>
    )
  }
  const Icon = message.when === "steer" ? CornerDownRight : ListEnd
  return (
    <li className="flex items-center gap-2 rounded-xl border border-dashed border-line px-3 py-0.5 text-sm text-soft">
      <Icon className="size-4 shrink-0 text-faint" aria-label={message.when === "steer" ? "Steers" : "Waits"} />
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
          Send now
        </Button>
      )}
      <IconButton label="Change this message" onClick={() => setText(message.text)}>
        <Pencil className="size-3.5" />
      </IconButton>
      <IconButton
        label="Take this message back"
        onClick={() => void act(() => takeBackQueued(conversation.id, message))}
      >
        <X className="size-4" />
      </IconButton>
    </li>
  )
}
