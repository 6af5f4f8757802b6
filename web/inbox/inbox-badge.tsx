import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"

/** How many changes wait, beside the word Inbox. */
export function InboxBadge() {
  const waiting = useStore(feed).list.proposals.length
  if (waiting === 0) return null
  return (
    <span className="rounded-full bg-warn-soft px-2 text-xs font-semibold text-warn tabular-nums">
      {waiting}
      <span className="sr-only"> waiting</span>
    </span>
  )
}
