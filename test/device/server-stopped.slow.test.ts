import { describe, expect, test, vi } from "vitest"
import { CLOSE, type ToolCall } from "../../core/protocol/socket.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { ownPort } from "../support/processes/own-port.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { type Environment, type Server, start, until } from "../support/processes/server-lives.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { connect, Machine } from "../support/server/device.ts"
import { Visitor } from "../support/server/face.ts"
import { slownessOf } from "../support/worked.ts"

// A real server that gets SIGTERM while a device carries out an approved write.
vi.setConfig({ testTimeout: 120_000 })

const isWrite = ({ action }: ToolCall) => action === "insert"

async function environmentOn(database: TestDatabase): Promise<Environment> {
  const kept: Environment = database.name === "sqlite" ? {} : { DATABASE_URL: (await database.create()).url }
  return { PAWL_DATA: dataFolder(), PAWL_PORT: await ownPort(), ...kept }
}

/** A device that holds a write back, and the approval of that write in progress at a server, `asked`, which may be another. */
async function writing(environment: Environment, { asked, ledger = true }: { asked?: Server; ledger?: boolean } = {}) {
  const server = await start(environment)
  const { url } = server
  const token = await tokenFor(environment)
  const ada = new Visitor(fetch, token, asked?.url ?? url)
  const machine = new Machine()
  const sent = Promise.withResolvers<ToolCall>()
  const deals = (call: ToolCall) => {
    if (!isWrite(call)) return machine.deal(call)
    sent.resolve(call)
    return undefined
  }
  const device = await connect(machine, { url, token, deviceId: "laptop", ledger, deals })
  const conversation = await ada.begin({ deviceId: "laptop" })
  const { proposals } = (await ada.say(conversation, "add a task: buy milk")).body
  const proposal = `/api/agent/proposals/${proposals[0].id}`
  const decided = ada.post(`${proposal}/commit`).then(
    ({ body }) => body.status as string,
    () => "no answer",
  )
  return { server, url, token, ada, machine, device, proposal, decided, call: await sent.promise }
}

const refusesConnections = (url: string) =>
  until(
    () =>
      fetch(`${url}/healthz`).then(
        () => false,
        () => true,
      ),
    (isGone) => isGone,
    5000,
  )

describe.each(databases)("a server on $name that is stopped while a device carries out a write", (database) => {
  test("waits for the answer, and reports it", async () => {
    const { server, url, machine, device, decided, call } = await writing(await environmentOn(database))
    server.child.kill("SIGTERM")
    await refusesConnections(url)
    device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
    expect(await decided).toBe("applied")
    expect((await server.ended).code).toBe(0)
    expect(device.closed).toMatchObject({ code: CLOSE.goingDown })
    expect(machine.effects).toBe(1)
  })

  test("leaves an unanswered write to the next server, which asks the device within seconds", async () => {
    const environment = await environmentOn(database)
    const { server, url, token, ada, machine, proposal, decided } = await writing(environment)
    const stoppedAt = performance.now()
    expect((await server.kill("SIGTERM")).code).toBe(0)
    expect(performance.now() - stoppedAt).toBeLessThan(9000 * slownessOf()) // a supervisor kills what takes longer
    await decided
    await using _next = await start(environment)
    using _device = await connect(machine, { url, token, deviceId: "laptop" })
    const statusOf = async () => (await ada.get(proposal)).body.status as string
    expect(await until(statusOf, (status) => status !== "applying", 6000 * slownessOf())).toBe("applied")
    expect(machine.effects).toBe(1)
  })
})

describe.each(databases.filter(({ name }) => name === "postgres"))(
  "a node on $name that is being stopped",
  (database) => {
    test("lets its devices answer the calls of another node, also a device without a ledger", async () => {
      const environment = await environmentOn(database)
      const MASTER_ENCRYPTION_KEY = Buffer.alloc(32, 7).toString("base64")
      await using asked = await start({
        ...environment,
        PAWL_DATA: dataFolder(),
        PAWL_PORT: "0",
        MASTER_ENCRYPTION_KEY,
      })
      const here = { ...environment, MASTER_ENCRYPTION_KEY }
      const { server, url, machine, device, decided, call } = await writing(here, { asked, ledger: false })
      server.child.kill("SIGTERM")
      await refusesConnections(url)
      device.send({ type: "tool_result", id: call.id, ...machine.deal(call) })
      expect(await decided).toBe("applied")
      expect((await server.ended).code).toBe(0)
    })
  },
)
