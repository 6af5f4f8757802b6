import { expect, test } from "vitest"
import { newId } from "../../protocol/ids.ts"
import type { Live } from "../ports.ts"
import { whenIdleAnywhere } from "./idle-anywhere.ts"

const id = newId("conv")
const closing = new AbortController()

/** Notifies one listener, which is all this test has. */
class OneListener {
  #listener: ((live: Live) => void) | undefined

  subscribe(_id: unknown, listener: (live: Live) => void): () => void {
    this.#listener = listener
    return () => (this.#listener = undefined)
  }

  tell(live: Live): void {
    this.#listener?.(live)
  }
}

/** A conversation at work in another process, and what happens while this is being determined. */
function elsewhere(meanwhile: (bus: OneListener) => void) {
  const bus = new OneListener()
  let asked = 0
  const recorded = async () => {
    const atWork = asked++ === 0
    if (atWork) meanwhile(bus)
    return [{ id, position: 5, atWork, unread: false, here: undefined }]
  }
  const runtime = { rest: async () => false, isWorking: () => false, closing: closing.signal }
  return { bus, ports: { runtime, bus, journal: { recorded } } }
}

test.each<[Live]>([
  [{ type: "recorded", position: 6, atWork: false }],
  [{ type: "rest" }],
  [{ type: "gone", user: undefined }],
])("an end during the query for active work is not missed: %j", async (live) => {
  const { ports } = elsewhere((bus) => bus.tell(live))
  expect(await whenIdleAnywhere(ports, id)).toBe("elsewhere")
})

test("further events are not the end, and a shutdown does not wait", async () => {
  const { bus, ports } = elsewhere(() => {})
  let over = false
  const rested = whenIdleAnywhere(ports, id).then(() => (over = true))
  await new Promise(setImmediate)
  bus.tell({ type: "recorded", position: 7, atWork: true })
  await new Promise(setImmediate)
  expect(over).toBe(false)
  closing.abort()
  await rested
})
