import {
  emptyFeed,
  type FeedList,
  reduceFeed,
  type StreamState,
  type UnknownFrame,
  withConversations,
  withoutConversation,
} from "../../../client/index.ts"
import { client } from "./client.ts"
import { noticeSignOut } from "./identity.ts"
import { Store } from "./store.ts"

export interface FeedState {
  readonly list: FeedList
  /** Whether the first snapshot has arrived. */
  readonly known: boolean
  readonly line: StreamState["state"]
  /** The cursor of older conversations; null if there are none, undefined before the first request. */
  readonly next: string | null | undefined
}

/** All conversations of the person, live, for the sidebar and the inbox. */
export const feed = new Store<FeedState>({ list: emptyFeed, known: false, line: "connecting", next: undefined })

/** Other parts of the page that follow the feed; pages loaded later add themselves here. */
export const listeners = new Set<(frame: UnknownFrame) => void>()

/** Follows the feed until the signal aborts. */
export async function followFeed(signal: AbortSignal): Promise<void> {
  try {
    const onState = ({ state }: StreamState) => feed.change({ line: state })
    for await (const frame of client.feed({ signal, onState })) {
      feed.change({ list: reduceFeed(feed.value.list, frame), known: true })
      for (const listener of listeners) listener(frame)
    }
  } catch (error) {
    if (signal.aborted) return
    feed.change({ line: "waiting" })
    noticeSignOut(error)
  }
}

const PAGE = 100
let loading: Promise<void> | undefined

/** Loads one more page of older conversations; parallel calls share it. */
export function loadMore(): Promise<void> {
  loading ??= load().finally(() => (loading = undefined))
  return loading
}

async function load(): Promise<void> {
  const { next } = feed.value
  if (next === null) return
  const query = { limit: PAGE, ...(next === undefined ? {} : { cursor: next }) }
  const { items, nextCursor } = await client.listConversations({ query })
  feed.change({ list: withConversations(feed.value.list, items), next: nextCursor })
}

/** The most results of a search that are listed. */
const MOST_FOUND = 200

/** Searches titles. Resolves to false if there may be more than are listed. */
export async function searchTitles(search: string, signal: AbortSignal): Promise<boolean> {
  let cursor: string | null | undefined
  for (let found = 0; cursor !== null;) {
    if (found >= MOST_FOUND) return false
    const query = { search, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }
    const { items, nextCursor } = await client.listConversations({ query, signal })
    feed.change({ list: withConversations(feed.value.list, items) })
    found += items.length
    cursor = nextCursor
  }
  return true
}

export async function deleteConversation(id: string): Promise<void> {
  await client.deleteConversation({ params: { id } })
  feed.change({ list: withoutConversation(feed.value.list, id) })
}

export async function renameConversation(id: string, title: string): Promise<void> {
  const conversation = await client.changeConversation({ params: { id }, body: { title } })
  feed.change({ list: withConversations(feed.value.list, [conversation]) })
}
