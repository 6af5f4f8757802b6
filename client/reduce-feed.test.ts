import { expect, test } from "vitest"
import type { ConversationView } from "../core/protocol/conversation/conversation.ts"
import { emptyFeed, reduceFeed, withConversations, withoutConversation } from "./reduce.ts"

const conversation = (number: number, more: Partial<ConversationView> = {}): ConversationView => ({
  id: `conv_${number}` as ConversationView["id"],
  title: `No. ${number}`,
  agent: "workspace",
  provider: null,
  model: null,
  mode: "confirm",
  status: "active",
  site: "server",
  deviceId: null,
  connectionId: null,
  position: 1,
  createdAt: new Date(number * 1000).toISOString(),
  updatedAt: new Date(number * 1000).toISOString(),
  ...more,
})

const snapshot = (...conversations: ConversationView[]) => ({
  id: "1",
  type: "snapshot",
  data: { conversations, proposals: [] },
})
const changed = (one: ConversationView) => ({
  id: "2",
  type: "conversation",
  data: { conversation: one, proposals: [] },
})
const titles = ({ conversations }: typeof emptyFeed) => conversations.map(({ title }) => title)

test("a snapshot is the current state; new and changed conversations are placed by age", () => {
  let list = reduceFeed(emptyFeed, snapshot(conversation(3), conversation(2)))
  list = reduceFeed(list, changed(conversation(4)))
  list = reduceFeed(list, changed(conversation(2, { title: "renamed", position: 2 })))
  expect(titles(list)).toEqual(["No. 4", "No. 3", "renamed"])
  // A page that was read before the change does not revert it.
  expect(titles(withConversations(list, [conversation(2), conversation(1)]))).toEqual([
    "No. 4",
    "No. 3",
    "renamed",
    "No. 1",
  ])
})

test("after a reconnect, conversations deleted meanwhile are removed, and older pages stay", () => {
  const list = withConversations(reduceFeed(emptyFeed, snapshot(conversation(5), conversation(4), conversation(3))), [
    conversation(1),
  ])
  expect(titles(reduceFeed(list, snapshot(conversation(5), conversation(3))))).toEqual(["No. 5", "No. 3", "No. 1"])
})

test("a deleted conversation is removed, and a frame of a newer server changes nothing", () => {
  const list = reduceFeed(emptyFeed, snapshot(conversation(2), conversation(1)))
  expect(
    titles(reduceFeed(list, { id: "3", type: "conversation_deleted", data: { conversationId: "conv_1" } })),
  ).toEqual(["No. 2"])
  expect(titles(withoutConversation(list, "conv_2"))).toEqual(["No. 1"])
  expect(reduceFeed(list, { id: "4", type: "of_tomorrow", data: {} })).toBe(list)
})
