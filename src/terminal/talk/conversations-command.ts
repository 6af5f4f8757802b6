import { DIM, type Line, line, span } from "../line.ts"
import { toShown } from "../shown.ts"
import type { Talk } from "./talk.ts"

const LISTED = 20
/** Longer words the server would refuse. */
const LONGEST = 200

type Listed = Awaited<ReturnType<Talk["client"]["listConversations"]>>["items"]

/** What each number stands for: what was last shown. Conversations that are newer do not move what a person has read. */
const shown = new WeakMap<Talk, Listed>()

/** The newest conversations, those whose title has the words, or goes to one by its number. */
export async function conversationsCommand({ talk }: { readonly talk: Talk }, words: string): Promise<void> {
  const isNumber = /^\d+$/.test(words)
  const search = words === "" || isNumber ? undefined : words.slice(0, LONGEST)
  const before = isNumber ? shown.get(talk) : undefined
  const items = before ?? (await list(talk, search))
  const chosen = isNumber ? items[Number(words) - 1] : undefined
  if (chosen) return void (await talk.enter(chosen.id))
  shown.set(talk, items)
  const none = search === undefined ? "There are none yet." : `No title has "${toShown(search)}" in it.`
  const how = "/conversations N goes to one. /conversations WORDS finds some by title."
  talk.print([], ...toLines(talk, items), line(items.length === 0 ? none : how, DIM))
}

/** Goes on while a page is empty: one of a search has looked at so many titles and no more. */
async function list({ client }: Talk, search: string | undefined): Promise<Listed> {
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await client.listConversations({ query: { limit: LISTED, search, cursor } })
    if (items.length > 0 || nextCursor === null) return items
    cursor = nextCursor
  }
}

function toLines(talk: Talk, items: Listed): Line[] {
  const folders = talk.reached.folders?.() ?? new Map<string, string>()
  return items.map(({ title, status, updatedAt, id }, index) => {
    const waits = status === "awaiting_confirmation" ? " · waits" : status === "running" ? " · works" : ""
    const here = id === talk.conversation?.id ? " · here" : ""
    const name = toShown(title ?? "Untitled")
    const folder = folders.get(id)
    const where = folder ? ` · ${toShown(folder)}` : ""
    const more = ` · ${toTime(updatedAt)}${waits}${here}${where}`
    return [span(`${String(index + 1).padStart(2)}  ${name}`), span(more, DIM)]
  })
}

/** As the clock on the wall has it; the day only where it is another one. */
function toTime(iso: string): string {
  const at = new Date(iso)
  const two = (number: number) => String(number).padStart(2, "0")
  const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} `
  return `${at.toDateString() === new Date().toDateString() ? "" : day}${two(at.getHours())}:${two(at.getMinutes())}`
}
