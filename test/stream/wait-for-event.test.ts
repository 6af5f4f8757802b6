import { expect, test } from "vitest"
import type { Journal } from "../../core/engine/journal.ts"
import type { Runtime } from "../../core/engine/runtime/runtime.ts"
import { InProcessBus } from "../../core/bus/in-process.ts"
import type { JournalEvent } from "../../core/protocol/events.ts"
import { newId } from "../../core/protocol/ids.ts"
import { waitForEvent } from "../../core/server/conversation/wait-for-event.ts"

const [id, user] = [newId("conv"), newId("user")]
const row = (position: number) => ({ type: "tool_start", position, version: 1, at: 0 }) as unknown as JournalEvent

/** Watches after row 1 for row 3, while four are recorded. */
function watch(runtime: Pick<Runtime, "rest" | "isWorking" | "closing">) {
  const bus = new InProcessBus()
  const rows = [1, 2, 3, 4].map(row)
  const journal = {
    async readPage(_: unknown, { after }: { after: number }) {
      await new Promise(setImmediate)
      return { events: rows.filter(({ position }) => position > after), found: 0, length: 0 }
    },
    recorded: async () => [],
  } as unknown as Journal
  const heard: number[] = []
  const happens = ({ position }: JournalEvent) => heard.push(position) > 0 && position === 3
  const watching = waitForEvent({ runtime: runtime as Runtime, bus, journal }, { id, position: 1 }, happens)
  return {
    watching,
    heard,
    tell: (position: number) => bus.publish(id, { type: "events", user, events: [row(position)] }),
  }
}

const closing = new AbortController().signal

test("a row that was not received is read as soon as a later one is received", async () => {
  const atWork = { rest: async () => false, isWorking: () => true, closing }
  const { watching, heard, tell } = watch(atWork)
  using _ = watching
  const over = watching.over()
  tell(4)
  await over
  expect(heard).toEqual([2, 3, 4])
})

test("a row that was not received is read when the run on this node is idle", async () => {
  const { watching, heard, tell } = watch({ rest: async () => true, isWorking: () => false, closing })
  using _ = watching
  tell(4)
  await watching.over()
  expect(heard).toEqual([2, 3, 4])
})

test("rows received in order are not read again", async () => {
  const { watching, heard, tell } = watch({ rest: async () => true, isWorking: () => false, closing })
  using _ = watching
  tell(2)
  await watching.over()
  expect(heard).toEqual([2])
})
