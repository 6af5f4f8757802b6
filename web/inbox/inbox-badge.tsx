import { useExpired } from "../proposal/expired.ts"
import { feed } from "../state/feed.ts"
import { useStore } from "../state/store.ts"

/** How many changes wait, or expired unseen, beside the word Inbox. */
export function InboxBadge() {
  const { proposals } = useStore(feed).list
  const expired = useExpired(proposals).size
  const waiting = proposals.length - expired
  if (proposals.length === 0) return null
  const look = waiting > 0 ? "bg-warn-soft text-warn" : "bg-sunken text-soft"
  return (
    <span className={`rounded-full px-2 text-xs font-semibold tabular-nums ${look}`}>
      {proposals.length}
      <span className="sr-only">
        {waiting > 0 && ` waiting`}
        {expired > 0 && ` ${expired} expired`}
      </span>
    </span>
  )
}
