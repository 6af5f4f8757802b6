import { expect, test } from "vitest"
import type { ModelRequest } from "../../core/engine/model.ts"
import { always, calls, says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { connect, type Connecting, Machine } from "../support/server/device.ts"
import { openServer, Peer } from "../support/server/socket.ts"
import { isLong } from "../support/sizes.ts"
import { usedMemory } from "../support/worked.ts"

const MB = 1024 * 1024
const ROUNDS = isLong ? 1000 : 400
const AT_ONCE = 10
const [sqlite] = databases as readonly [TestDatabase]

/** Calls the tool that the last message names, `look` or `write`, then ends. */
function script({ history }: ModelRequest) {
  const last = history.at(-1)
  if (last?.role !== "user") return says("Done.")
  const text = JSON.stringify(last)
  if (text.includes("write")) return calls("create_task", { title: "Buy milk" })
  return text.includes("look") ? calls("list_tasks") : says("Nothing to do.")
}

test(`${ROUNDS} rounds of devices, answers and cuts leave nothing behind`, { timeout: 300_000 }, async () => {
  await using server = await openServer({ database: sqlite, model: scripted(always(script)) })
  const token = await server.tokenFor("ada")
  const authorization = `Bearer ${token}`
  const ada = await server.visitor("ada")
  const machines = Array.from({ length: AT_ONCE }, () => new Machine())
  // Each has its own device and conversations, so that concurrent rounds do not interfere.
  const places = await Promise.all(
    machines.map(async (machine, index) => {
      const device = (more: Partial<Connecting> = {}) =>
        connect(machine, { url: server.url, token, deviceId: `device ${index}`, ...more })
      using speaker = await connect(machine, { url: server.url, token })
      speaker.send({ type: "chat_request", message: "hello", context: { mode: "auto", title: `speaks ${index}` } })
      await speaker.next("final")
      const { items } = (await ada.get("/api/conversations?limit=100")).body as {
        items: { id: string; title: string }[]
      }
      const spoken = items.find(({ title }) => title === `speaks ${index}`)?.id ?? ""
      return { machine, device, spoken, bound: await ada.begin({ deviceId: `device ${index}`, mode: "auto" }) }
    }),
  )
  type Place = (typeof places)[number]
  const say = (message: string, conversationId: string) => ({
    type: "chat_request",
    message,
    context: { conversationId },
  })

  type Kind = (place: Place) => Promise<void>
  const kinds: Kind[] = [
    async function speaksAndIsAnswered({ machine, spoken }) {
      using peer = await connect(machine, { url: server.url, token })
      peer.send(say("look", spoken))
      await peer.next("final")
    },
    async function isCutOffDuringARead({ machine, spoken }) {
      const peer = await connect(machine, { url: server.url, token, deals: () => undefined })
      peer.send(say("look", spoken))
      await peer.next("tool_call")
      peer.socket.terminate()
      await server.face.pawl.runtime.rest(spoken as never)
    },
    async function answersTwiceAndForOthers({ device, bound }) {
      using peer = await device({ deals: () => undefined })
      const told = ada.say(bound, "look")
      const { id } = await peer.next("tool_call")
      for (const call of [id, id, "call_nonsense"]) peer.send({ type: "tool_result", id: call, rows: [] })
      await told
    },
    async function isCutOffDuringAWriteAndComesBack({ machine, device, bound }) {
      const first = await device({
        deals: (call) => {
          machine.deal(call)
          first.socket.terminate()
          return undefined
        },
      })
      const told = ada.say(bound, "write")
      await first.close()
      using _ = await device()
      expect((await told).body.run.status).toBe("completed")
    },
    async function talksNonsense() {
      using peer = await Peer.open(server.url, { authorization })
      peer.send("{")
      await peer.close()
    },
    async function watchesAndIsCutOff({ spoken, bound }) {
      const peer = await Peer.open(server.url, { authorization })
      for (const conversationId of [spoken, bound]) peer.send({ type: "attach", conversationId })
      peer.send({ type: "attach" })
      await peer.next("event")
      peer.socket.terminate()
    },
    async function neverFinishesItsHandshake() {
      const refused = Peer.open(server.url, { authorization: "Bearer pawl_nonsense" }).then(() => "open")
      expect(await refused.catch(() => "refused")).toBe("refused")
    },
  ]

  const play = async (from: number, to: number) => {
    for (let round = from; round < to; round += AT_ONCE) {
      await Promise.all(places.map((place, index) => (kinds[(round + index) % kinds.length] as Kind)(place)))
    }
  }
  await play(0, ROUNDS / 4)
  const early = usedMemory()
  await play(ROUNDS / 4, ROUNDS)
  const { devices } = server.face
  await expect.poll(() => devices.size, { timeout: 60_000 }).toEqual({ devices: 0, speakers: 0, calls: 0, awaited: 0 })
  const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
  await expect.poll(metrics).toMatch(/^pawl_open_streams 0$/m)
  expect(await metrics()).toMatch(/^pawl_devices 0$/m)
  expect(await metrics()).toMatch(/^pawl_device_calls_waiting 0$/m)
  // Enough happened: not everything was an error.
  expect(Number(/pawl_device_answers_total\{outcome="taken"\} (\d+)/.exec(await metrics())?.[1])).toBeGreaterThan(
    ROUNDS * 0.3,
  )
  for (const { effects } of machines) expect(effects).toBeGreaterThan(ROUNDS / 100)
  const grown = usedMemory() - early
  expect(grown, `${Math.round(grown / MB)} MB in ${(ROUNDS * 3) / 4} rounds`).toBeLessThan(12 * MB)
})
