import { expect, test } from "vitest"
import { TurnedClock } from "../../engine/turned-clock.fixture.ts"
import { newId } from "../../protocol/ids.ts"
import type { ServerFrame } from "../../protocol/socket.ts"
import { DeviceConnection } from "./device-connection.ts"

const call = { type: "tool_call", id: "call_1", action: "run_command" } as const

function connected(...knows: string[]) {
  const sent: ServerFrame[] = []
  const mouth = { send: (frame: ServerFrame) => void sent.push(frame) }
  const line = new DeviceConnection({ user: newId("user"), lineage: "" }, mouth, new TurnedClock())
  line.introduce({ type: "hello", deviceId: "laptop", ledger: true, offers: ["files"], knows })
  const stopping = new AbortController()
  return { line, stopping, asking: { ms: 1000, signal: stopping.signal }, told: () => sent.map(({ type }) => type) }
}

test("what nobody wants any more is stopped on a device that knows how, and heard of to its end", async () => {
  const { line, asking, stopping, told } = connected("cancel")
  const heard = line.write(call, asking)
  stopping.abort("cancel")
  expect(told()).toEqual(["tool_call", "tool_cancel"])
  line.hear({ type: "tool_result", id: call.id, row: { text: "It was stopped." } })
  expect(await heard).toEqual({ row: { text: "It was stopped." } })
})

test("of a read nothing more is wanted then", async () => {
  const { line, asking, stopping, told } = connected("cancel")
  const heard = line.read(call, asking)
  stopping.abort("cancel")
  expect([await heard, told()]).toEqual(["stopped", ["tool_call", "tool_cancel"]])
})

test("a server that goes down still wants it, and an older device is sent nothing that it does not know", async () => {
  for (const [knows, reason] of [
    [["cancel"], "shutdown"],
    [["pages"], "cancel"],
  ] as const) {
    const { line, asking, stopping, told } = connected(...knows)
    void line.write(call, asking)
    stopping.abort(reason)
    expect(told()).toEqual(["tool_call"])
  }
})

test("what has been answered is stopped no more", async () => {
  const { line, asking, stopping, told } = connected("cancel")
  const heard = line.write(call, asking)
  line.hear({ type: "tool_result", id: call.id, ok: true })
  stopping.abort("cancel")
  expect([await heard, told()]).toEqual([{ ok: true }, ["tool_call"]])
})
