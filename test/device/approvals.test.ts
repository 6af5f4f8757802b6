import { createHash } from "node:crypto"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { type DeviceOptions, openDevice } from "../../client/device/index.ts"
import { approvalText } from "../../core/protocol/calls/follow-calls.ts"
import type { ToolCall } from "../../core/protocol/socket.ts"
import { ApprovalSigner } from "../../core/store/people/approval-signer.ts"
import { asMasterKey } from "../../core/store/people/master-keys.ts"
import { calls, says, scripted } from "../../core/testing.ts"
import { databases } from "../support/databases.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { connect, Machine } from "../support/server/device.ts"
import { ScriptedSocketServer } from "./scripted-socket-server.ts"
import { openServer } from "../support/server/socket.ts"

const signerOf = (fill: string) => new ApprovalSigner({ allKeys: async () => [asMasterKey(Buffer.alloc(32, fill))] })
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex")

/** A device that runs commands, and lists files without changing anything. */
function open(server: string, more: Partial<DeviceOptions> = {}) {
  const ran: unknown[] = []
  const problems: unknown[] = []
  const connected = Promise.withResolvers<void>()
  const device = openDevice({
    ...{ server, token: "pat_secret", db: join(dataFolder(), "device.db"), deviceId: "laptop", embedsNotes: false },
    handlers: {
      run_command: (data) => (ran.push(data), { text: "Done." }),
      list_files: () => ({ text: "cart.js" }),
    },
    readers: ["list_files"],
    onProblem: (problem) => problems.push(problem),
    onState: ({ state }) => state === "connected" && connected.resolve(),
    ...more,
  })
  return { device, ran, problems, connected: connected.promise, [Symbol.asyncDispose]: () => device.close() }
}

const command: ToolCall = { type: "tool_call", id: "call_1", action: "run_command", data: { command: "id", n: 1.5 } }

describe("a device whose server signs what was approved", () => {
  const openSigned = async () => {
    const server = await ScriptedSocketServer.open()
    const here = open(server.url)
    const side = await server.next()
    const hello = await side.hears("hello")
    const signer = signerOf("a")
    const register = async () => side.say({ ...hello, approvalKeys: await signer.publicKeys() })
    const stack = new AsyncDisposableStack()
    stack.use(server)
    stack.use(here)
    return { ...here, side, signer, register, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  }
  const signed = async (call: ToolCall, by = signerOf("a"), deviceId = "laptop") => ({
    ...call,
    approvals: await by.sign(approvalText(call, deviceId, sha256)),
  })

  test("carries out a change that is signed for it, and a read without a signature", async () => {
    await using world = await openSigned()
    await world.register()
    world.side.say(await signed(command))
    expect(await world.side.hears("tool_result", "call_1")).toMatchObject({ row: { text: "Done." } })
    // In another order, and with a conversation added by a forwarding node, it is the same call.
    const { data: _, ...rest } = await signed({ ...command, id: "call_2" })
    world.side.say({ data: { n: 1.5, command: "id" }, ...rest, conversationId: "conv_1JNQRZT0000000000000000000" })
    expect(await world.side.hears("tool_result", "call_2")).toMatchObject({ row: { text: "Done." } })
    world.side.say({ type: "tool_call", id: "read_1", action: "list_files" })
    expect(await world.side.hears("tool_result", "read_1")).toMatchObject({ row: { text: "cart.js" } })
    expect([world.ran.length, world.problems]).toEqual([2, []])
  })

  test("refuses a change without a signature, or with one for another call, other arguments, another device or by another key", async () => {
    await using world = await openSigned()
    await world.register()
    const { approvals } = await signed(command)
    const forged: Record<string, ToolCall> = {
      unsigned: command,
      empty: { ...command, approvals: [] },
      garbled: { ...command, approvals: ["", "%%%", "A".repeat(86)] },
      "another call": { ...command, id: "call_2", approvals },
      "other arguments": { ...command, data: { command: "id", n: 1.5, outside_sandbox: true }, approvals },
      "another action": { ...command, action: "insert", approvals },
      "a table": { ...command, table: "tasks", approvals },
      "another device": await signed(command, undefined, "phone"),
      "another key": await signed(command, signerOf("b")),
      unknown: { ...command, action: "format_disk" },
    }
    let count = 0
    for (const [name, call] of Object.entries(forged)) {
      world.side.say({ ...call })
      const answer = await world.side.hears("tool_result", call.id, call.id === "call_2" ? 1 : ++count)
      expect(answer.error, name).toMatch(/without a signature/)
    }
    expect([world.ran, world.problems.length]).toEqual([[], Object.keys(forged).length])
    world.side.say(await signed(command)) // the real one is not held against the forged ones
    expect(await world.side.hears("tool_result", "call_1", ++count)).toMatchObject({ row: { text: "Done." } })
  })

  test("holds back a call that arrives before the server has identified itself", async () => {
    await using world = await openSigned()
    world.side.say({ ...command })
    world.side.say({ type: "tool_call", id: "read_1", action: "list_files" })
    world.side.say({ type: "ping" })
    await world.side.hears("pong")
    expect(world.side.heard.map(({ type }) => type)).toEqual(["hello", "pong"])
    await world.register()
    expect(await world.side.hears("tool_result", "call_1")).toMatchObject({ error: expect.any(String) })
    expect(await world.side.hears("tool_result", "read_1")).toMatchObject({ row: { text: "cart.js" } })
    expect(world.ran).toEqual([])
  })

  test("accepts the previous key and the new one during a key rotation", async () => {
    let keys = [asMasterKey(Buffer.alloc(32, "a"))]
    const signer = new ApprovalSigner({ allKeys: async () => keys })
    const before = await signer.publicKeys()
    keys = [asMasterKey(Buffer.alloc(32, "b"))]
    const after = await signer.publicKeys()
    expect([before, after]).toEqual([[expect.any(String)], [before[0], ...(await signerOf("b").publicKeys())]])
    expect((await signer.sign("text")).length).toBe(2)
    const none = new ApprovalSigner({ allKeys: async () => [] })
    expect([await none.publicKeys(), await none.sign("text")]).toEqual([[], []])
  })
})

test("asks no signature of a server that shows no key", async () => {
  await using server = await ScriptedSocketServer.open()
  await using here = open(server.url)
  const side = await server.next()
  await side.registers()
  side.say({ ...command })
  expect(await side.hears("tool_result", "call_1")).toMatchObject({ row: { text: "Done." } })
  expect(here.ran).toHaveLength(1)
})

describe.each(databases)("a server on $name", (database) => {
  test("signs each change for a device that supports it, for every way of approval, and sends no signature to other devices", async () => {
    const script = [
      calls("create_task", { title: "Größe: 30 €" }),
      calls("list_tasks"),
      says("There."),
      calls("create_task", { title: "More" }),
      says("There."),
    ]
    await using server = await openServer({ database, model: scripted(...script) })
    const [token, ada] = [await server.tokenFor("ada"), await server.visitor("ada")]
    await using here = open(server.url, { token })
    await here.connected
    const id = await ada.begin({ deviceId: "laptop", mode: "auto" })
    expect((await ada.say(id, "milk")).body.run.status).toBe("completed")
    expect(here.device.tables.select("tasks")).toMatchObject([{ title: "Größe: 30 €" }])
    expect(here.problems).toEqual([])
    // The device refuses a call that comes from its own node without having passed the gate.
    const { id: user } = await server.face.store.people.ensure("ada", 0)
    const line = await server.face.devices.newest(user, "laptop")
    const forged = await line?.write(
      { ...command, action: "insert", table: "tasks", data: { title: "Forged" } },
      {
        ms: 5000,
        signal: new AbortController().signal,
      },
    )
    expect(forged).toMatchObject({ error: expect.stringMatching(/without a signature/) })
    expect(here.device.tables.select("tasks")).toHaveLength(1)
    const machine = new Machine()
    using _ = await connect(machine, { url: server.url, token, deviceId: "older" })
    await ada.say(await ada.begin({ deviceId: "older", mode: "auto" }), "more milk")
    expect(machine.calls).toMatchObject([{ action: "insert" }])
    expect(machine.calls[0]).not.toHaveProperty("approvals")
  })
})
