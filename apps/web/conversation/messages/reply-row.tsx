import { GitBranch, History } from "../../components/icons.tsx"
import { memo, useDeferredValue, useMemo, useState } from "react"
import { citationsOf, type MessageItem } from "../../../../client/index.ts"
import type { AnswerData, Reasoning } from "../../../../core/protocol/index.ts"
import { CopyButton, IconButton, IconLink } from "../../components/button.tsx"
import { useAttempt } from "../../components/explain.ts"
import type { OpenConversation } from "../../state/conversation.ts"
import { DataView } from "../../views/data-view.tsx"
import { type Shown, ShownSource, answerProblems } from "../../markdown/citation-mark.tsx"
import { ShowAll, forkAfter, loadFullText } from "./fork.tsx"
import { outbox, sendMessage } from "../../state/outbox.ts"
import { Suggest } from "../../markdown/suggestions.tsx"
import { Markdown } from "../../markdown/markdown.tsx"
import { describeEnding, usageText } from "./describe-reply.ts"
import { ReasoningBlock } from "./reasoning.tsx"
import { t } from "../../strings/strings.ts"
import { time } from "../../strings/format.ts"

interface ReplyRowProps {
  readonly text: string
  /** Undefined while it streams. */
  readonly item: MessageItem | undefined
  /** The reasoning so far. */
  readonly thinking?: Reasoning | undefined
  readonly isLast: boolean
  /** The activity before the first word of the reply. */
  readonly doing?: string | undefined
  readonly conversation: OpenConversation
}

/** A reply. The same element is used while it streams and when it is complete. */
export const ReplyRow = memo(function ReplyRow({
  text,
  item,
  thinking,
  isLast,
  doing = t("conversation.working"),
  conversation,
}: ReplyRowProps) {
  // Input has priority: new text may be drawn one frame later.
  const shown = useDeferredValue(text)
  const data = item?.message.data
  const citations = useMemo(() => citationsOf(data), [data])
  const [shownSource, show] = useState<Shown>()
  const chosen = useMemo(() => ({ shown: shownSource, show }), [shownSource])
  const isOffline = item?.message.model === OFFLINE
  const suggest = useMemo(
    () => (isOffline ? (request: string) => sendOnce(conversation, request) : undefined),
    [isOffline, conversation],
  )
  const ended = item && describeEnding(item.message)
  const reasoning = item ? item.message.reasoning : thinking
  return (
    <article aria-label="Pawl" className="group pt-2 pb-1">
      {reasoning && <ReasoningBlock reasoning={reasoning} isLive={!item && text === ""} />}
      <ShownSource value={chosen}>
        {shown.trim() === "" && (item || reasoning) ? null : shown === "" ? (
          <p className="flex items-center gap-2.5 py-1 text-sm text-soft">
            <span className="pulse size-2 rounded-full bg-accent" /> {doing}
          </p>
        ) : (
          <Suggest value={suggest}>
            <Markdown text={shown} isOpen={item === undefined} citations={citations} />
          </Suggest>
        )}
        {citations && citations.sources.length > 0 && <DataView data={sourcesOf(citations)} />}
      </ShownSource>
      {item && <ShowAll message={item.message} conversation={conversation} />}
      {citations &&
        answerProblems(citations).map((words, index) => (
          <p key={index} className="mt-2 text-sm text-warn">
            {words}
          </p>
        ))}
      {ended && <p className="mt-2 text-sm text-warn">{ended}</p>}
      {item && isLast && <Actions item={item} conversation={conversation} />}
    </article>
  )
})

/** The model of a server without a provider. It suggests the requests that it understands. */
const OFFLINE = "offline"

/** Ignored while something is running or being sent, such as by a double click. */
function sendOnce({ id, store }: OpenConversation, request: string): void {
  const isBeingSent = outbox.value.some(({ conversationId }) => conversationId === id)
  if (!isBeingSent && store.value.transcript.status !== "running") sendMessage({ conversationId: id }, request)
}

/** The sources of the answer in the order of their numbers. */
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
      <CopyButton label={t("conversation.copyReply")} read={() => loadFullText(message, conversation)} />
      <IconButton
        label={t("conversation.branchHere")}
        small
        disabled={isBusy}
        onClick={() => void once(() => forkAfter(conversation, message.id))}
      >
        <GitBranch className="size-3.5" />
      </IconButton>
      <IconLink label={t("conversation.runDetails")} small to={`/c/${conversation.id}/run-of/${message.id}`}>
        <History className="size-3.5" />
      </IconLink>
      <span className="truncate px-1">
        {[time(createdAt), model, usage && usageText(usage)].filter(Boolean).join(" · ")}
      </span>
    </div>
  )
}
