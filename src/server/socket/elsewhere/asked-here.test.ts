import { expect, test } from "vitest"
import { TurnedClock } from "../../../agent/turned-clock.fixture.ts"
import { silentLog } from "../../../agent/silent-log.ts"
import type { NodeMessage } from "../../../protocol/ports/node-message.ts"
import type { CallEnd } from "../device-line.ts"
import type { DeviceConnection } from "../device-connection.ts"
import { AskedHere } from "./asked-here.ts"

const call = { type: "tool_call", id: "call_1", action: "create", table: "tasks", data: {} } as const

/** A device of this node, what it was asked to write, and what the other node is answered. */
function open() {
  const written: string[] = []
  const answers: NodeMessage[] = []
  const device = {
    open: true,
    write: async ({ id }: { id: string }): Promise<CallEnd> => (written.push(id), "stopped"),
  }
  const asked = new AskedHere({
    messages: { send: async (_: string, message: NodeMessage) => answers.push(message) > 0 } as never,
    clock: new TurnedClock(),
    log: silentLog,
    lineOf: () => device as unknown as DeviceConnection,
  })
  const ticket = async () => {
    asked.hear({ type: "device_ticket", id: "ask_ticket", line: 7, callId: call.id }, "node_b")
    await expect.poll(() => answers).toHaveLength(1)
    return (answers.pop() as { answer: { ticket: string } }).answer.ticket
  }
  return { asked, written, answers, ticket }
}

test("a write whose stop was faster is not sent, and whoever waits for it is told so at once; a copy of it says nothing more", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.hear({ type: "device_stop", id: "ask_1" }, "node_b")
  asked.hear(write, "node_b")
  await expect.poll(() => answers).toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "absent" } }])
  asked.hear(write, "node_b")
  await asked[Symbol.asyncDispose]()
  expect([written, answers.length]).toEqual([[], 1])
})

test("one that is under way is told of its stop, and taken up once", async () => {
  const { asked, written, answers, ticket } = open()
  const write = { type: "device_write", id: "ask_1", ticket: await ticket(), call, ms: 5000 } as const
  asked.hear(write, "node_b")
  asked.hear(write, "node_b")
  asked.hear({ type: "device_stop", id: "ask_1" }, "node_b")
  await expect
    .poll(() => answers)
    .toEqual([{ type: "device_answer", id: "ask_1", answer: { is: "ended", how: "stopped" } }])
  expect(written).toEqual(["call_1"])
})
