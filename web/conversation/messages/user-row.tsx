import { Pencil } from "../../icons/things.ts"
import { useRef, useState } from "react"
import type { MessageItem } from "../../../src/client/index.ts"
import type { MessageFile } from "../../../src/protocol/index.ts"
import { Button, IconButton } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { Plain } from "../../parts/plain.tsx"
import { useAttempt } from "../../parts/use-attempt.ts"
import { time } from "../../parts/words.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { forkAndSay } from "./fork.ts"
import { MessageFiles } from "../../parts/message-files.tsx"
import { ShowAll, wholeOf } from "./show-all.tsx"

interface UserRowProps {
  readonly item: MessageItem
  readonly conversation: OpenConversation
}

/** What the person has said. To change it is to begin anew from there, beside what came of it. */
export function UserRow({ item: { message }, conversation }: UserRowProps) {
  const [edited, setEdited] = useState<string>()
  const { once, isBusy } = useAttempt()
  const [isBack, setBack] = useState(false)
  const branch = useRef<string>(undefined)
  // What is asked again is asked with all of its words.
  const edit = () => wholeOf(message, conversation).then(setEdited, () => {})
  if (edited !== undefined) {
    return (
      <EditWords
        text={edited}
        files={message.files ?? []}
        onCancel={() => {
          branch.current = undefined
          setBack(true)
          setEdited(undefined)
        }}
        isSent={isBusy}
        onDone={(said) =>
          // What was written stays until it has a place to be said.
          void once(() => forkAndSay(conversation, message, said, branch)).then((isDone) => {
            if (!isDone) return
            branch.current = undefined
            setEdited(undefined)
          })
        }
      />
    )
  }
  return (
    <article aria-label="You" className="group flex flex-col items-end pt-5 pb-1">
      {message.files && <MessageFiles files={message.files} />}
      <Words text={message.content} />
      <ShowAll message={message} conversation={conversation} />
      <div className="mt-0.5 flex h-7 items-center gap-0.5 text-xs text-faint opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
        <span className="px-1">{time(message.createdAt)}</span>
        <CopyButton what="your message" read={() => wholeOf(message, conversation)} />
        <IconButton label="Edit and ask again" autoFocus={isBack} onClick={() => void edit()} small>
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

interface EditWordsProps {
  readonly text: string
  readonly files: readonly MessageFile[]
  readonly isSent: boolean
  readonly onDone: (said: { readonly text: string; readonly files: readonly MessageFile[] }) => void
  readonly onCancel: () => void
}

function EditWords({ text, files, isSent, onDone, onCancel }: EditWordsProps) {
  const [words, setWords] = useState(text)
  const [wanted, setWanted] = useState(files)
  return (
    <form
      className="my-3 rounded-2xl border border-line bg-surface p-3"
      onSubmit={(event) => {
        event.preventDefault()
        if (words.trim() !== "" && !isSent) onDone({ text: words, files: wanted })
      }}
    >
      {wanted.length > 0 && (
        <MessageFiles files={wanted} onRemove={(id) => setWanted(wanted.filter((file) => file.id !== id))} />
      )}
      <textarea
        autoFocus
        aria-label="Your message"
        rows={Math.min(10, words.split("\n").length + 1)}
        value={words}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Escape") return
          event.preventDefault()
          onCancel()
        }}
        className="w-full resize-none bg-transparent outline-none"
      />
      <div className="flex flex-wrap items-center justify-end gap-2">
        <p className="mr-auto text-[13px] text-faint">Asks again in a new branch. This conversation stays as it is.</p>
        <Button small onClick={onCancel}>
          Cancel
        </Button>
        <Button small look="main" type="submit" disabled={words.trim() === "" || isSent}>
          Ask again
        </Button>
      </div>
    </form>
  )
}
