import { Search } from "../icons/signs.ts"
import { useState } from "react"
import type { ConversationView } from "../../src/protocol/index.ts"
import { attempt } from "../parts/explain.ts"
import { useExpired } from "../proposal/expired.ts"
import { feed, loadMore } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { ConversationEntry } from "./conversation-entry.tsx"
import { useTitleSearch } from "./use-title-search.ts"

/** All conversations by when something last happened in them, and a search over their titles. */
export function ConversationList() {
  const { list, known, next } = useStore(feed)
  const [words, setWords] = useState("")
  const wanted = words.trim().toLowerCase()
  const searched = useTitleSearch(wanted)
  const expired = useExpired(list.proposals)
  const waiting = new Set(list.proposals.flatMap(({ id, conversationId }) => (expired.has(id) ? [] : [conversationId])))
  const found = list.conversations.filter(({ title }) => (title ?? "").toLowerCase().includes(wanted))
  const groups = toGroups(found, new Date())
  return (
    <>
      <div className="relative px-3 pb-2">
        <Search className="pointer-events-none absolute top-2.5 left-6 size-4 text-faint" />
        <input
          id="search"
          type="search"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === "Escape" && words !== "") {
              event.preventDefault()
              setWords("")
            }
          }}
          placeholder="Search"
          aria-label="Search conversations"
          aria-keyshortcuts="Control+K"
          className="field h-9 pl-8 text-sm"
        />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-3 pb-3" tabIndex={-1}>
        {groups.map(({ name, items }) => (
          <section key={name} aria-label={name}>
            <h2 className="px-2 pt-3 pb-1 text-xs font-medium text-faint">{name}</h2>
            <ul>
              {items.map((conversation) => (
                <ConversationEntry
                  key={conversation.id}
                  conversation={conversation}
                  waits={waiting.has(conversation.id)}
                />
              ))}
            </ul>
          </section>
        ))}
        {known && (
          <p role="status" className="px-2 py-3 text-sm text-faint empty:hidden">
            {toldOf(wanted, found.length, searched)}
          </p>
        )}
        {wanted === "" && next !== null && list.conversations.length >= 50 && (
          <button
            type="button"
            onClick={() => void attempt(loadMore)}
            className="mt-2 w-full rounded-lg px-2 py-1.5 text-left text-sm text-soft hover:bg-paper"
          >
            Show older ones
          </button>
        )}
      </div>
    </>
  )
}

function toldOf(wanted: string, count: number, searched: ReturnType<typeof useTitleSearch>): string {
  if (wanted === "") return count === 0 ? "Your conversations will be listed here." : ""
  if (searched === "searching") return "Searching …"
  if (searched === "newest only") return "There may be older ones. More words find fewer."
  return count === 0 ? "No title has these words." : ""
}

interface Group {
  readonly name: string
  readonly items: ConversationView[]
}

const DAY = 24 * 60 * 60 * 1000

function toGroups(conversations: readonly ConversationView[], now: Date): Group[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const groups: (Group & { readonly since: number })[] = [
    { name: "Today", since: today, items: [] },
    { name: "Yesterday", since: today - DAY, items: [] },
    { name: "This week", since: today - 6 * DAY, items: [] },
    { name: "This month", since: today - 30 * DAY, items: [] },
    { name: "Older", since: Number.NEGATIVE_INFINITY, items: [] },
  ]
  const newest = [...conversations].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  for (const conversation of newest) {
    groups.find(({ since }) => Date.parse(conversation.updatedAt) >= since)?.items.push(conversation)
  }
  return groups.filter(({ items }) => items.length > 0)
}
