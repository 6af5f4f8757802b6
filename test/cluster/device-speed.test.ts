import { describe, expect, test } from "vitest"
import { newId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { openNodes } from "./nodes.ts"

const shared = databases.filter(({ name }) => name === "postgres")
const SOON_MS = 2000

describe.each(shared)("a device of another node, on $name,", (database) => {
  test("answers within two seconds, even if the nodes have not talked before", async () => {
    // Time passes only here, in small steps while something is under way: what they wait for, not what a machine takes.
    await using nodes = await openNodes({ database, turned: true })
    using _ = await nodes.connect(nodes.one)
    const { id: user } = await nodes.two.face.store.people.ensure("ada", 0)
    const place = { user, conversation: newId("conv"), deviceId: "laptop", offer: "workspace" }
    const { signal } = new AbortController()
    const took = async (effect: "read" | "write") => {
      const action = effect === "read" ? "select" : "insert"
      const call = { callId: newId("call"), action, table: "tasks", data: { title: "Milk" } }
      const [clock] = nodes.clocks
      const began = clock!.now()
      await nodes.pass(nodes.two.face.devices.call(place, call, { effect, signal }), { step: 2 })
      return clock!.now() - began
    }
    // The first call wakes the other node; later calls find it listening.
    for (const effect of ["write", "read", "write"] as const) expect(await took(effect)).toBeLessThan(SOON_MS)
    expect([nodes.machine.effects, nodes.machine.calls.length]).toEqual([2, 3])
  })
})
