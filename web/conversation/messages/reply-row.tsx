import { GitBranch, History } from "../../icons/arrows.ts"
import { memo, useDeferredValue, useMemo, useState } from "react"
import { answerWords, citationsOf, endingWords, type MessageItem } from "../../../src/client/index.ts"
import type { AnswerData, Reasoning } from "../../../src/protocol/index.ts"
import { IconButton } from "../../parts/button.tsx"
import { CopyButton } from "../../parts/copy-button.tsx"
import { time } from "../../parts/words.ts"
import { useAttempt } from "../../parts/use-attempt.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { navigate } from "../../state/router.ts"
import { DataView } from "../../views/data-view.tsx"
import { type Shown, ShownSource } from "../../markdown/citation-mark.tsx"
import { forkAfter } from "./fork.ts"
import { Markdown } from "../../markdown/markdown.tsx"
import { Thought } from "./thought.tsx"
import { ShowAll, wholeOf } from "./show-all.tsx"
import { inWords } from "./usage-words.ts"

interface ReplyRowProps {
  readonly text: string
  /** Undefined while it is being written. */
  readonly item: MessageItem | undefined
  /** What is thought for it while it is being written. */
  readonly thinking?: Reasoning | undefined
  readonly isLast: boolean
  /** What is done before its first word. */
  readonly doing?: string | undefined
  readonly conversation: OpenConversation
}

/** A reply, from its first letter on: the same element is drawn while it is written and when it is whole. */
export const ReplyRow = memo(function ReplyRow({
  text,
  item,
  thinking,
  isLast,
  doing = "At work …",
  conversation,
}: ReplyRowProps) {
  // What a person types goes first: text that comes may be drawn a picture later.
  const shown = useDeferredValue(text)
  const data = item?.message.data
  const citations = useMemo(() => citationsOf(data), [data])
  const [shownSource, show] = useState<Shown>()
  const chosen = useMemo(() => ({ shown: shownSource, show }), [shownSource])
  const ended = item && endingWords(item.message)
  const reasoning = item ? item.message.reasoning : thinking
  return (
    <article aria-label="Pawl" className="group pt-2 pb-1">
      {reasoning && <Thought reasoning={reasoning} isLive={!item && text === ""} />}
      <ShownSource value={chosen}>
        {shown.trim() === "" && (item || reasoning) ? null : shown === "" ? (
          <p className="flex items-center gap-2.5 py-1 text-sm text-soft">
            <span className="pulse size-2 rounded-full bg-accent" /> {doing}
          </p>
        ) : (
          <Markdown text={shown} isOpen={item === undefined} citations={citations} />
        )}
        {citations && citations.sources.length > 0 && <DataView data={sourcesOf(citations)} />}
      </ShownSource>
      {item && <ShowAll message={item.message} conversation={conversation} />}
      {citations &&
        answerWords(citations).map((words, index) => (
          <p key={index} className="mt-2 text-sm text-warn">
            {words}
          </p>
        ))}
      {ended && <p className="mt-2 text-sm text-warn">{ended}</p>}
      {item && isLast && <Actions item={item} conversation={conversation} />}
    </article>
  )
})

/** What the answer rests on, as any other sources are drawn, in the order of their numbers. */
const sourcesOf = ({ sources }: AnswerData) => ({ kind: "sources", sources })

function Actions({
  item: { message },
  conversation,
}: {
  readonly item: MessageItem
  readonly conversation: OpenConversation
}) {
  const { model, usage, createdAt } = message
  const { once, isBusy } = useAttempt()
  return (
    <div className="mt-0.5 -ml-1.5 flex h-7 items-center gap-0.5 text-xs text-faint opacity-0 group-focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
      <CopyButton what="this reply" read={() => wholeOf(message, conversation)} />
      <IconButton
        label="Branch off here"
        small
        disabled={isBusy}
        onClick={() => void once(() => forkAfter(conversation, message.id))}
      >
        <GitBranch className="size-3.5" />
      </IconButton>
      <IconButton
        label="Details of this run"
        small
        onClick={() => navigate(`/c/${conversation.id}/run-of/${message.id}`)}
      >
        <History className="size-3.5" />
      </IconButton>
      <span className="truncate px-1">
        {[time(createdAt), model, usage && inWords(usage)].filter(Boolean).join(" · ")}
      </span>
    </div>
  )
}
