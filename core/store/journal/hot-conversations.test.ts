import { expect, test } from "vitest"
import { emptyConversation } from "../../engine/empty-conversation.ts"
import { newId } from "../../protocol/ids.ts"
import { bookkeepingOf } from "./bookkeeping.ts"
import { HotConversations } from "./hot-conversations.ts"

function conversation(tokens: number) {
  const user = newId("user")
  return Object.assign(emptyConversation(newId("conv", user), user), { tokens })
}

/** How many of them are in memory once all have ended, one behind the other. */
function keptOf(hot: HotConversations, ended: readonly ReturnType<typeof conversation>[]): number {
  for (const each of ended) hot.keep(each, false)
  return ended.filter(({ id }) => hot.get(id)).length
}

test("64 idle conversations are cached, with at most a million tokens", () => {
  const short = Array.from({ length: 100 }, () => conversation(1000))
  expect(keptOf(new HotConversations(), short)).toBe(64)
  const long = Array.from({ length: 100 }, () => conversation(300_000))
  expect(keptOf(new HotConversations(), long)).toBe(3)
})

test("the last idle conversation is cached however long it is, until another becomes idle", () => {
  const hot = new HotConversations()
  const [longest, next] = [conversation(50_000_000), conversation(1)]
  expect(keptOf(hot, [conversation(1), longest])).toBe(1)
  expect(keptOf(hot, [next])).toBe(1)
  expect(hot.get(longest.id)).toBeUndefined()
})

test("conversations that this node writes are cached whatever their length", () => {
  const hot = new HotConversations()
  const held = Array.from({ length: 100 }, () => conversation(300_000))
  for (const each of held) bookkeepingOf(each).held = true
  expect(keptOf(hot, held)).toBe(100)
})

test("a conversation that continues or is dropped no longer counts", () => {
  const hot = new HotConversations()
  const [first, second] = [conversation(600_000), conversation(600_000)]
  hot.keep(first, false)
  first.tokens = 700_000 // it has grown since
  bookkeepingOf(first).held = true
  hot.keep(first, false)
  const kept = [conversation(300_000), second]
  expect(keptOf(hot, kept)).toBe(2)
  hot.drop(second.id)
  expect(keptOf(hot, [conversation(600_000), ...kept.slice(0, 1)])).toBe(2)
})
