import { execFile } from "node:child_process"
import { randomUUID } from "node:crypto"
import { mkdtempSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { openDevice } from "../../client/device/index.ts"
import type { Place } from "../contender.ts"
import { median, type Numbers } from "../meters.ts"
import type { Happening } from "../nodes/happenings.ts"
import { type LiveServer, startServer } from "../nodes/live-server.ts"
import { startNats } from "../nodes/nats.ts"
import { openPlayedModel } from "../nodes/played-model.ts"
import type { Sizes } from "../sizes.ts"

/**
 * W12: two servers of the published package on one PostgreSQL: the time until an event at one is visible at the other,
 * with NATS and without.
 */
export async function twoServers(place: Place, launcher: string, { times }: Sizes["w12"]): Promise<Numbers> {
  await using nats = await startNats()
  const numbers: Record<string, number> = {}
  for (const link of ["Nats", "Alone"] as const) {
    await using servers = await openServers(place, launcher, link === "Nats" ? { NATS_URL: nats.url } : {})
    for (const [key, take] of Object.entries(trials)) {
      if (key === "letters" && link === "Alone") continue // without NATS the other server only shows whole replies
      const taken: number[] = []
      // The first time is a warm-up if times are judged.
      for (let time = times > 1 ? -1 : 0; time < times; time++) {
        const ms = await take(servers)
        if (time >= 0) taken.push(ms)
      }
      numbers[`${key}${link}P50`] = median(taken)
      numbers[`${key}${link}Max`] = Math.max(...taken)
    }
  }
  return numbers
}

interface Servers {
  readonly a: LiveServer
  readonly b: LiveServer
  readonly model: Awaited<ReturnType<typeof openPlayedModel>>
  readonly deviceId: string
}

/** Each causes an event at one server and measures the time until the other shows it. */
const trials: Record<Happening, (servers: Servers) => Promise<number>> = {
  async letters({ a, b, model }) {
    const { id, reply, said } = await hold(a, model)
    const watching = await b.watch(id)
    await settle()
    const begun = performance.now()
    reply.write("Letters.")
    const ms = (await watching.sees("Letters.")) - begun
    reply.end()
    watching.close()
    await said
    return ms
  },
  async reply({ a, b, model }) {
    const { id, reply, said } = await hold(a, model)
    const watching = await b.watch(id)
    reply.write("Whole.")
    await settle()
    const begun = performance.now()
    reply.end()
    const ms = (await watching.sees("event: done")) - begun
    watching.close()
    await said
    return ms
  },
  async cancel({ a, b, model }) {
    const { id, reply, said } = await hold(a, model)
    await settle()
    const begun = performance.now()
    const told = b.ask("POST", `/api/conversations/${id}/cancel`)
    const ms = (await reply.closedAt) - begun
    await Promise.all([told, said])
    return ms
  },
  async device({ b, model, deviceId }) {
    const { id } = await b.ask("POST", "/api/conversations", { body: { deviceId, mode: "auto" } })
    const takes = model.callTakes()
    const said = b.ask("POST", `/api/conversations/${id as string}/messages`, { body: { text: "Look." } })
    const ms = await takes
    await said
    return ms
  },
  async repeat({ a, b, model }) {
    const key = { "idempotency-key": randomUUID() }
    const { id, reply, said } = await hold(a, model, key)
    const again = b.ask("POST", `/api/conversations/${id}/messages`, { body: HELD, headers: key })
    await settle()
    reply.end()
    const [first, second] = await Promise.all([said, again].map((answer) => answer.then(() => performance.now())))
    return Math.max(0, (second ?? Number.NaN) - (first ?? Number.NaN))
  },
  async erase({ a, b, model }) {
    const { id, said } = await hold(a, model)
    const watching = await a.watch(id)
    await settle()
    const begun = performance.now()
    const told = b.ask("DELETE", `/api/conversations/${id}`)
    const ms = (await watching.endedAt) - begun
    await Promise.all([told, said.catch(() => {})])
    return ms
  },
  async revoke({ a, b }) {
    const { id } = await a.ask("POST", "/api/conversations", { body: {} })
    const guest = await a.ask("POST", "/api/tokens", { body: { scopes: ["read"] } })
    const watching = await a.watch(id as string, guest.token as string)
    await settle()
    const begun = performance.now()
    await b.ask("DELETE", `/api/tokens/${guest.id as string}`)
    return (await watching.endedAt) - begun
  },
}

const HELD = { text: "Hold on." }

/** Starts a run at a server whose model has been called and has not answered yet. */
async function hold(at: LiveServer, model: Servers["model"], headers: Record<string, string> = {}) {
  const { id } = (await at.ask("POST", "/api/conversations", { body: {} })) as { id: string }
  const said = at.ask("POST", `/api/conversations/${id}/messages`, { body: HELD, headers })
  said.catch(() => {}) // reported to the caller that awaits it
  return { id, said, reply: await model.reply() }
}

/** Waits until the other server knows the run: a run and a watch that are both new would be measured differently. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 300 + Math.random() * 100))

async function openServers(place: Place, launcher: string, link: Record<string, string>) {
  await using stack = new AsyncDisposableStack()
  const model = stack.use(await openPlayedModel())
  const environment = () => ({
    ...{ PAWL_DATA: mkdtempSync(join(place.folder, "data-")), DATABASE_URL: place.postgresUrl ?? "", PAWL_PORT: "0" },
    ...{ LM_STUDIO_ENDPOINT: model.url, PAWL_MODEL: "qwen", PAWL_RATE_LIMIT: "0", ...link },
    ...{ MASTER_ENCRYPTION_KEY: "b".repeat(64), HOME: place.folder },
  })
  const env = { PATH: process.env.PATH, ...environment() }
  const made = await promisify(execFile)(process.execPath, [launcher, "token", "create", "--user", "ada"], { env })
  const token = made.stdout.trim()
  const [a, b] = [
    stack.use(await startServer(launcher, environment(), token)),
    stack.use(await startServer(launcher, environment(), token)),
  ]
  const connected = Promise.withResolvers<void>()
  const device = stack.use(
    openDevice({
      ...{
        server: a.url,
        token,
        db: join(mkdtempSync(join(place.folder, "device-")), "device.db"),
        embedsNotes: false,
      },
      onState: ({ state }) => state === "connected" && connected.resolve(),
    }),
  )
  await connected.promise
  if (link.NATS_URL) await Promise.all([a, b].map(hearsOthers))
  const closing = stack.move()
  return { a, b, model, deviceId: device.deviceId, [Symbol.asyncDispose]: () => closing.disposeAsync() }
}

async function hearsOthers(server: LiveServer): Promise<void> {
  while ((await server.ask("GET", "/readyz")).bus !== "ok") await settle()
}
