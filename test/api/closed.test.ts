import { describe, expect, test } from "vitest"
import { hasCode, openPawl, type Pawl } from "../../core/index.ts"
import { always, says, scripted } from "../../core/testing.ts"
import { anyDatabase } from "../support/databases.ts"

const told = async (events: AsyncIterable<unknown>) => {
  for await (const _ of events);
}
const id = "conv_1JNMtm1ZVh7W4XgK2T9Y"
const proposal = "prop_1JNMtm1ZVh7W4XgK2T9Y"
const everything: readonly (readonly [name: string, call: (pawl: Pawl) => Promise<unknown>])[] = [
  ["ask", (pawl) => pawl.ask("Hi.")],
  ["ask of somebody else", (pawl) => pawl.as("ada").ask("Hi.")],
  ["stream", (pawl) => told(pawl.stream("Hi."))],
  ["answer", (pawl) => pawl.answer(id)],
  ["list", (pawl) => pawl.conversations.list()],
  ["get", (pawl) => pawl.conversations.get(id)],
  ["events", (pawl) => told(pawl.conversations.events(id))],
  ["cancel", (pawl) => pawl.conversations.cancel(id)],
  ["the list of proposals", (pawl) => pawl.proposals.list()],
  ["approve", (pawl) => pawl.proposals.approve(proposal)],
]

describe.each(anyDatabase)("a Pawl that is closed, on $name", ({ create }) => {
  test("rejects every call with `draining`, not with a store error", async () => {
    await using database = await create()
    const pawl = await openPawl({ store: database.url, models: scripted(always(says("Hello."))) })
    await pawl.ask("Hi.")
    await pawl.people.create("ada")
    await pawl.close()
    for (const [name, call] of everything) {
      const error = await call(pawl).catch((error: unknown) => error)
      expect(hasCode(error, "draining"), `${name}: ${String(error)}`).toBe(true)
    }
  })

  test("rejects calls in flight with `draining` too", async () => {
    await using database = await create()
    for (const [name, call] of everything) {
      const pawl = await openPawl({ store: database.url, models: scripted(always(says("Hello."))) })
      await pawl.people.create("ada")
      const asking = call(pawl).catch((error: unknown) => error)
      await pawl.close()
      const error = await asking
      const fine = !(error instanceof Error) || hasCode(error, "draining") || hasCode(error, "not_found")
      expect(fine, `${name}: ${String(error)}`).toBe(true)
    }
  })
})
