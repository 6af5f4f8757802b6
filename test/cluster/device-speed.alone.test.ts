import { describe, expect, test } from "vitest"
import { newId } from "../../src/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { openNodes } from "../support/cluster/nodes.ts"
import { slownessOf } from "../support/slowness.ts"

const shared = databases.filter(({ name }) => name === "postgres")
const SOON_MS = 2000

describe.each(shared)("a device of another node, on $name,", (database) => {
  test("answers within two seconds, also where nothing was said between the nodes before", async () => {
    await using nodes = await openNodes({ database })
    using _ = await nodes.connect(nodes.one)
    const { id: user } = await nodes.two.face.store.people.ensure("ada", 0)
    const place = { user, conversation: newId("conv"), deviceId: "laptop", offer: "workspace" }
    const { signal } = new AbortController()
    const took = async (effect: "read" | "write") => {
      const began = performance.now()
      const action = effect === "read" ? "select" : "insert"
      const call = { callId: newId("call"), action, table: "tasks", data: { title: "Milk" } }
      await nodes.two.face.devices.call(place, call, { effect, signal })
      return performance.now() - began
    }
    // The first wakes the other node; those after it find it listening.
    for (const effect of ["write", "read", "write"] as const)
      expect(await took(effect)).toBeLessThan(SOON_MS * slownessOf())
    expect([nodes.machine.effects, nodes.machine.calls.length]).toEqual([2, 3])
  })
})
