import { expect, test } from "vitest"
import { says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { openServer } from "../support/server/socket.ts"

const [sqlite] = databases as readonly [TestDatabase]

// `final` keeps its fields, and also names the conversation, as the feed does.
test("a client attached to the feed learns the id of the conversation that its chat_request has created, and continues in it", async () => {
  await using server = await openServer({ database: sqlite, model: scripted(says("One."), says("Two.")) })
  using peer = await server.socket("ada")
  peer.send({ type: "attach" })
  await peer.next("event")
  peer.send({ type: "chat_request", message: "go", context: { agent: "test", title: "A new one" } })
  const final = await peer.next("final")
  expect(Object.keys(final).sort()).toEqual(["conversationId", "response", "type"])
  const told = () => peer.events().find(({ type }) => type === "conversation")
  await peer.until(() => told() !== undefined)
  const { id, title } = told()?.data.conversation as { id: string; title: string }
  expect([title, final.conversationId]).toEqual(["A new one", id])
  peer.send({ type: "chat_request", message: "go on", context: { conversationId: id } })
  await peer.until((seen) => seen.filter(({ type }) => type === "final").length === 2)
  const ada = await server.visitor("ada")
  expect((await ada.get("/api/conversations")).body.items).toHaveLength(1)
})
