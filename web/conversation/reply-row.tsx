import { GitBranch } from "lucide-react"
import type { MessageItem } from "../../src/client/index.ts"
import { IconButton } from "../parts/button.tsx"
import { CopyButton } from "../parts/copy-button.tsx"
import { time } from "../parts/words.ts"
import type { OpenConversation } from "../state/conversation.ts"
import { forkAfter } from "./fork.ts"
import { Markdown } from "./markdown.tsx"
import { inWords } from "./usage-words.ts"

interface ReplyRowProps {
  readonly item: MessageItem
  readonly isLast: boolean
  readonly conversation: OpenConversation
}

const ENDED: Partial<Record<string, string>> = {
  limit: "The model reached its limit here; ask it to go on.",
  refused: "The model's provider declined to go on.",
  cancelled: "You stopped it here.",
}

export function ReplyRow({ item: { message }, isLast, conversation }: ReplyRowProps) {
  const { content, finish, model, usage, createdAt } = message
  const ended = finish && ENDED[finish]
  return (
    <article aria-label="Pawl" className="group pt-2">
      <Markdown text={content} />
      {ended && <p className="mt-2 text-sm text-warn">{ended}</p>}
      {isLast && (
        <div className="mt-0.5 -ml-1.5 flex h-7 items-center gap-0.5 text-xs text-faint opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
          <CopyButton what="this reply" read={() => content} />
          <IconButton label="Branch off here" small onClick={() => void forkAfter(conversation, message.id)}>
            <GitBranch className="size-3.5" />
          </IconButton>
          <span className="truncate px-1">
            {[time(createdAt), model, usage && inWords(usage)].filter(Boolean).join(" · ")}
          </span>
        </div>
      )}
    </article>
  )
}
