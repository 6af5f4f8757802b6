import { describe, expect, test } from "vitest"
import { answer } from "../../core/engine/definition/tool.ts"
import { systemClock } from "../../core/shared/time/clock.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { shared } from "./links.ts"
import { write } from "../support/loop/tools.ts"
import { Face, type Visitor } from "../support/server/face.ts"

const HOUR = 3_600_000

describe.each(shared)("two servers on one $name whose machines' clocks are two hours apart", ({ create }) => {
  const open = async () => {
    const { url } = await create()
    const tools = [write("save", () => answer("Saved."))]
    const serverWith = (aheadMs: number) => {
      const machineClock = { ...systemClock, now: () => Date.now() + aheadMs }
      const model = scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls("save") : says("Done."))))
      return Face.open({ url, tools, model, machineClock })
    }
    const [ahead, behind] = [await serverWith(HOUR), await serverWith(-HOUR)]
    const atEach = [await ahead.as("ada"), await behind.as("ada")] as const
    return {
      ...{ ahead, behind, atEach },
      async [Symbol.asyncDispose]() {
        await ahead[Symbol.asyncDispose]()
        await behind[Symbol.asyncDispose]()
      },
    }
  }
  const propose = async (ada: Visitor): Promise<string> => {
    const id = await ada.begin({ agent: "test" })
    await ada.say(id, "Save it.")
    const { items } = (await ada.get(`/api/agent/proposals?conversationId=${id}`)).body
    return items[0].id
  }
  const listed = async (ada: Visitor, status: string): Promise<string[]> => {
    const { items } = (await ada.get(`/api/agent/proposals?status=${status}`)).body
    return items.map(({ id }: { id: string }) => id)
  }

  test("both report the same proposals as pending, list the newest first, and accept a decision about each other's", async () => {
    await using nodes = await open()
    const [ahead, behind] = nodes.atEach
    const made = [await propose(behind), await propose(ahead), await propose(behind), await propose(ahead)]
    for (const ada of nodes.atEach) {
      expect(await listed(ada, "pending")).toEqual(made.toReversed())
      expect(await listed(ada, "expired")).toEqual([])
    }
    const conversations = nodes.atEach.map(async (ada) => (await ada.get("/api/conversations")).body.items)
    expect(await conversations[0]).toEqual(await conversations[1])
    const decided = await Promise.all([
      ahead.post(`/api/agent/proposals/${made[0]}/commit`, {}),
      behind.post(`/api/agent/proposals/${made[1]}/commit`, {}),
    ])
    expect(decided.map(({ status }) => status)).toEqual([200, 200])
  })

  test("what has expired by the clock of the database has expired at both", async () => {
    await using nodes = await open()
    const { engine } = nodes.ahead.store
    const made = [await propose(nodes.atEach[0]), await propose(nodes.atEach[1])]
    const over = { sql: `UPDATE proposal SET expires_at = ${engine.serverTime} - 60000`, values: [] }
    await engine.change({ type: "statements", statements: [over] })
    for (const ada of nodes.atEach) {
      expect(await listed(ada, "pending")).toEqual([])
      expect((await listed(ada, "expired")).toSorted()).toEqual(made.toSorted())
    }
  })

  test("call ids use one clock, which shows whose device it was when the call was made", async () => {
    await using nodes = await open()
    const made: string[] = []
    for (const ada of [...nodes.atEach, ...nodes.atEach.toReversed()]) {
      const id = await propose(ada)
      made.push((await ada.get(`/api/agent/proposals/${id}`)).body.callId)
    }
    expect(made.toSorted()).toEqual(made)
  })
})
