import { useEffect, useState } from "react"
import type { ConversationView } from "../../../core/protocol/index.ts"
import { Search } from "../components/icons.tsx"
import { attempt } from "../components/explain.ts"
import { useExpired } from "../proposal/expiry.ts"
import { feed, loadMore, searchTitles } from "../state/feed.ts"
import { useStore } from "../state/store.ts"
import { t } from "../strings/strings.ts"
import { ConversationEntry } from "./conversation-entry.tsx"

/** All conversations by last activity, and a search over their titles. */
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
          placeholder={t("shell.search")}
          aria-label={t("shell.searchConversations")}
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
            {searchStatus(wanted, found.length, searched)}
          </p>
        )}
        {wanted === "" && next !== null && list.conversations.length >= 50 && (
          <button
            type="button"
            onClick={() => void attempt(loadMore)}
            className="mt-2 w-full rounded-lg px-2 py-1.5 text-left text-sm text-soft hover:bg-paper"
          >
            {t("shell.showOlder")}
          </button>
        )}
      </div>
    </>
  )
}

function searchStatus(wanted: string, count: number, searched: ReturnType<typeof useTitleSearch>): string {
  if (wanted === "") return count === 0 ? t("shell.noConversations") : ""
  if (searched === "searching") return t("shell.searching")
  if (searched === "partial") return t("shell.searchPartial")
  return count === 0 ? t("shell.searchEmpty") : ""
}

interface Group {
  readonly name: string
  readonly items: ConversationView[]
}

const DAY = 24 * 60 * 60 * 1000

function toGroups(conversations: readonly ConversationView[], now: Date): Group[] {
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime()
  const groups: (Group & { readonly since: number })[] = [
    { name: t("shell.today"), since: today, items: [] },
    { name: t("shell.yesterday"), since: today - DAY, items: [] },
    { name: t("shell.thisWeek"), since: today - 6 * DAY, items: [] },
    { name: t("shell.thisMonth"), since: today - 30 * DAY, items: [] },
    { name: t("shell.older"), since: Number.NEGATIVE_INFINITY, items: [] },
  ]
  const newest = [...conversations].sort((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1))
  for (const conversation of newest) {
    groups.find(({ since }) => Date.parse(conversation.updatedAt) >= since)?.items.push(conversation)
  }
  return groups.filter(({ items }) => items.length > 0)
}

/** Delay of a search while typing. */
const PAUSE_MS = 200

type Outcome = "searching" | "all" | "partial"

/** Searches the server for titles with these words, and lists what it finds. `partial`: there may be more. */
function useTitleSearch(words: string): Outcome {
  const { next } = useStore(feed)
  const [ended, setEnded] = useState<{ readonly words: string; readonly outcome: Outcome }>()
  const hasAll = words === "" || next === null
  useEffect(() => {
    if (hasAll) return
    const stop = new AbortController()
    const search = async () => {
      const all = await searchTitles(words, stop.signal)
      setEnded({ words, outcome: all ? "all" : "partial" })
    }
    const unlessStopped = (error: unknown) => {
      if (!stop.signal.aborted) throw error
    }
    const timer = setTimeout(() => {
      void attempt(() => search().catch(unlessStopped)).then((worked) => {
        if (!worked) setEnded({ words, outcome: "partial" })
      })
    }, PAUSE_MS)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [words, hasAll])
  return hasAll ? "all" : ended?.words === words ? ended.outcome : "searching"
}
