import { expect, test } from "vitest"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"
import { newId } from "../../protocol/ids.ts"
import type { ServerFrame } from "../../protocol/socket.ts"
import { DeviceConnection } from "./device-connection.ts"

const call = { type: "tool_call", id: "call_1", action: "run_command" } as const

function connected(...knows: string[]) {
  const sent: ServerFrame[] = []
  const mouth = { send: (frame: ServerFrame) => void sent.push(frame) }
  const socket = new DeviceConnection({ user: newId("user"), lineage: "" }, mouth, new TurnedClock())
  socket.introduce({ type: "hello", deviceId: "laptop", ledger: true, offers: ["files"], knows })
  const stopping = new AbortController()
  return { socket, stopping, asking: { ms: 1000, signal: stopping.signal }, told: () => sent.map(({ type }) => type) }
}

test("a cancelled call is stopped on a device that supports it, and watched to its end", async () => {
  const { socket, asking, stopping, told } = connected("cancel")
  const reply = socket.write(call, asking)
  stopping.abort("cancel")
  expect(told()).toEqual(["tool_call", "tool_cancel"])
  socket.receive({ type: "tool_result", id: call.id, row: { text: "It was stopped." } })
  expect(await reply).toEqual({ row: { text: "It was stopped." } })
})

test("the result of a cancelled read is ignored", async () => {
  const { socket, asking, stopping, told } = connected("cancel")
  const reply = socket.read(call, asking)
  stopping.abort("cancel")
  expect([await reply, told()]).toEqual(["stopped", ["tool_call", "tool_cancel"]])
})

test("calls of a stopping server are not cancelled, and an older device gets no frames that it does not know", async () => {
  for (const [knows, reason] of [
    [["cancel"], "shutdown"],
    [["pages"], "cancel"],
  ] as const) {
    const { socket, asking, stopping, told } = connected(...knows)
    void socket.write(call, asking)
    stopping.abort(reason)
    expect(told()).toEqual(["tool_call"])
  }
})

test("an answered call is not stopped", async () => {
  const { socket, asking, stopping, told } = connected("cancel")
  const reply = socket.write(call, asking)
  socket.receive({ type: "tool_result", id: call.id, ok: true })
  stopping.abort("cancel")
  expect([await reply, told()]).toEqual([{ ok: true }, ["tool_call"]])
})
