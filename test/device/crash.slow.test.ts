import { existsSync } from "node:fs"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, test, vi } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { Visitor } from "../support/server/face.ts"
import { ownPort } from "../support/processes/own-port.ts"
import { lifeNamed } from "../support/processes/package.ts"
import { oneIn } from "../support/sizes.ts"

// A real server and a real device, each a process of its own that is killed while an approved write is in progress.
vi.setConfig({ testTimeout: 180_000 })

const script = lifeNamed("device-life")

interface World {
  readonly environment: Record<string, string>
  readonly url: string
  readonly db: string
  readonly token: string
  server: PawlProcess
  device: PawlProcess
  ada: Visitor
  readonly proposal: string
  readonly conversation: string
}

type Standing = Pick<World, "environment" | "url" | "server">

async function newServer(): Promise<Standing> {
  // The restarted server has the same address.
  const environment = { PAWL_DATA: dataFolder(), PAWL_PORT: await ownPort() }
  const server = await serve(environment)
  const [, url = ""] = await server.says(/listening on (\S+)\n/)
  return { environment, url, server }
}

/** A server shared by all tests that do not stop it. Each test has a person of its own there. */
let lasting: Promise<Standing> | undefined
const lastingServer = () => (lasting ??= newServer())
let people = 0

/** A device at a server, killed at the commit of its first write, and a proposal to create a task. */
async function proposed(hit: { when: string; signal: string }, at = newServer): Promise<World> {
  const { environment, url, server } = await at()
  const db = join(dataFolder(), "device.db")
  const token = await tokenFor(environment, `ada${++people}`)
  const device = startDevice({ url, db, token, words: [hit.when, "1"], signal: hit.signal })
  await device.says(/connected/)
  const ada = new Visitor(fetch, token, url)
  const conversation = await ada.begin({ site: "device" })
  const { proposals } = (await ada.say(conversation, "add a task: buy milk")).body
  return { environment, url, db, token, server, device, ada, conversation, proposal: proposals[0].id }
}

async function serve(environment: Record<string, string>): Promise<PawlProcess> {
  const server = new PawlProcess(["serve"], environment)
  await server.says(/listening on/)
  return server
}

interface Life {
  readonly url: string
  readonly db: string
  readonly token: string
  readonly words?: string[]
  readonly signal?: string
}

function startDevice({ url, db, token, words = [], signal = "SIGKILL" }: Life): PawlProcess {
  return new PawlProcess([url, db, ...words], { DEVICE_TOKEN: token, DEVICE_SIGNAL: signal }, { script })
}

const nextLife = ({ url, db, token }: World) => startDevice({ url, db, token })

const commit = ({ ada, proposal }: World) =>
  ada.post(`/api/agent/proposals/${proposal}/commit`).then(({ body }) => body.status as string)

const rows = ({ db }: World): number => {
  using file = new DatabaseSync(db, { readOnly: true })
  return file.prepare("SELECT 1 FROM tasks").all().length
}

/** Returns how the proposal ends without a further request. */
async function endOf({ ada, proposal }: World): Promise<string> {
  const deadline = Date.now() + 60_000
  for (;;) {
    const { status } = (await ada.get(`/api/agent/proposals/${proposal}`)).body as { status: string }
    if (status !== "pending" && status !== "applying") return status
    if (Date.now() > deadline) throw new Error(`still ${status}`)
    await later(100)
  }
}

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
async function stopped({ db }: World): Promise<void> {
  while (!existsSync(`${db}.stopped`)) await later(20)
}

// Concurrent, because most of the time is waiting until a missing device counts as gone.
const places = [{ when: "before" }, { when: "after" }]

describe.concurrent.each(places)("a device killed just $when the effect of an approved write", ({ when }) => {
  test("carries it out once: it gets the call again when it is back", async () => {
    const world = await proposed({ when, signal: "SIGKILL" }, lastingServer)
    const status = commit(world)
    await world.device.ended
    world.device = nextLife(world)
    expect(await status).toBe("applied")
    expect(rows(world)).toBe(1)
  })

  test("leaves it in doubt when it does not come back, and the outcome is found when it does", async () => {
    const world = await proposed({ when, signal: "SIGKILL" }, lastingServer)
    expect(await commit(world)).toBe("in_doubt")
    expect(rows(world)).toBe(when === "after" ? 1 : 0)
    world.device = nextLife(world)
    await world.device.says(/connected/)
    const retried = await world.ada.post(`/api/agent/proposals/${world.proposal}/resolve`, { choice: "retry" })
    expect([retried.status, await endOf(world)]).toEqual([200, "applied"])
    expect(rows(world)).toBe(1)
  })
})

// The seed picks one case: the server is killed at the same point in both, and the tests above cover the device.
describe.concurrent.each(oneIn(2, places))("a server killed while the device is just $when the effect", ({ when }) => {
  test("finds after its restart that it was done, and reports it", async () => {
    const world = await proposed({ when, signal: "SIGSTOP" })
    const lost = commit(world).catch(() => "lost")
    await stopped(world)
    await world.server.kill("SIGKILL")
    expect(await lost).toBe("lost")
    world.device.child.kill("SIGCONT")
    world.server = await serve(world.environment)
    expect(await endOf(world)).toBe("applied")
    expect(rows(world)).toBe(1)
  })

  test("and a device killed with it: an unfinished call is done now, a finished one is not done twice", async () => {
    const world = await proposed({ when, signal: "SIGSTOP" })
    const lost = commit(world).catch(() => "lost")
    await stopped(world)
    await world.server.kill("SIGKILL")
    await world.device.kill("SIGKILL")
    await lost
    expect(rows(world)).toBe(when === "after" ? 1 : 0)
    world.device = nextLife(world)
    world.server = await serve(world.environment)
    expect(await endOf(world)).toBe("applied")
    expect(rows(world)).toBe(1)
  })
})

describe.concurrent("a server killed while no call is running", () => {
  test("before the decision: the proposal waits, the device reconnects, and a yes is carried out", async () => {
    const world = await proposed({ when: "never", signal: "SIGKILL" })
    await world.server.kill("SIGKILL")
    world.server = await serve(world.environment)
    await world.device.says(/connected\n[\s\S]*waiting\n[\s\S]*connected\n/)
    expect(rows(world)).toBe(0)
    expect(await commit(world)).toBe("applied")
    expect(rows(world)).toBe(1)
  })

  test("after the answer: it stays applied", async () => {
    const world = await proposed({ when: "never", signal: "SIGKILL" })
    expect(await commit(world)).toBe("applied")
    await world.server.kill("SIGKILL")
    world.server = await serve(world.environment)
    expect(await endOf(world)).toBe("applied")
    expect(rows(world)).toBe(1)
  })
})
