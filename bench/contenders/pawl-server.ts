import { systemClock } from "../../src/agent/clock.ts"
import { openDatabases } from "../../src/packs/analyst/connections/open-databases.ts"
import { Devices } from "../../src/server/socket/devices.ts"
import { newId, type Pawl } from "../engine.ts"
import { createEmbedder } from "../../src/models/embedders/create.ts"
import { OwnProviders } from "../../src/models/own-providers.ts"
import { PersonalModels } from "../../src/models/personal-models.ts"
import { Librarian } from "../../src/packs/research/librarian.ts"
import { SqlLibrary } from "../../src/store/library/library.ts"
import { OutboundPolicy } from "../../src/models/network/reach.ts"
import { createApp } from "../../src/server/app.ts"
import { listen } from "../../src/server/listen.ts"
import type { ServerPorts } from "../../src/server/ports.ts"
import { Revocation } from "../../src/server/door/revocation.ts"
import { createServerMetrics } from "../../src/server/metrics/server-metrics.ts"
import type { Place, Variant } from "../contender.ts"
import { openBenchPawl, PERSON } from "./pawl.ts"

/** A server on a port of its own, for one person with one token. */
export interface Served extends AsyncDisposable {
  readonly pawl: Pawl
  readonly url: string
  readonly token: string
  /** Asks the device of that name for a row, over its socket, and waits for it. */
  askDevice(deviceId: string): Promise<unknown>
}

/** An app, and how it reaches a device. */
export interface App {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  readonly askDevice: Served["askDevice"]
}

/** The server as `pawl serve` puts it together, with the benchmark's agent and model. */
export function openPawlServer(variant: Variant, place: Place, before?: (pawl: Pawl) => void): Promise<Served> {
  return serve(variant, place, async (pawl) => {
    before?.(pawl)
    const devices = new Devices(systemClock)
    const { id: user } = await pawl.store.people.ensure(PERSON, Date.now())
    const signal = new AbortController().signal
    const call = { callId: newId("call"), action: "get", table: "tasks", data: { id: "task_1" } }
    const place = { user, conversation: newId("conv"), offer: "workspace" }
    return {
      fetch: toApp(pawl, devices).fetch,
      askDevice: (deviceId) => devices.call({ ...place, deviceId }, call, { effect: "read", signal }),
    }
  })
}

export function toApp(pawl: Pawl, devices = new Devices(systemClock)): ReturnType<typeof createApp> {
  const { runtime, store } = pawl
  const models: ServerPorts["models"] = { list: async () => [], defaultName: async () => "bench" }
  const keys = store.providerKeys
  const reach = new OutboundPolicy()
  const providers = new OwnProviders({ models: new PersonalModels({}, { keys, sharedKeys: true, reach }), keys, reach })
  const ready = () => store.readiness.check()
  const address = { host: "127.0.0.1" }
  const streams = new Revocation({ credentials: store.credentials, runtime }).start()
  const metrics = createServerMetrics()
  const embedder = createEmbedder({})
  const settings = { sqliteRoot: "/nonexistent", superuserConnections: false }
  const databases = openDatabases({ records: store.connections, clock: systemClock, hosts: reach, ...settings })
  const library = new Librarian(new SqlLibrary(store.engine, { clock: systemClock, embedder: embedder.name }), embedder)
  const ports = {
    ...store,
    library,
    runtime,
    models,
    devices,
    embedder,
    providers,
    databases,
    address,
    streams,
    metrics,
    ready,
  }
  return createApp({ ...ports, version: "0.0.0" })
}

/** In the order of `pawl serve`: the store, the port, then what dead processes have left behind. */
export async function serve(
  variant: Variant,
  place: Place,
  toApp: (pawl: Pawl, token: string) => Promise<App>,
): Promise<Served> {
  const pawl = await openBenchPawl(variant, { place })
  const { people } = pawl.store
  const person = await people.ensure(PERSON, Date.now())
  const { token } = await people.createToken(person, ["read", "chat", "approve"], Date.now())
  const { fetch, askDevice } = await toApp(pawl, token)
  const listening = await listen(fetch, { host: "127.0.0.1", port: 0 })
  await pawl.runtime.recover()
  return {
    pawl,
    url: listening.url,
    token,
    askDevice,
    async [Symbol.asyncDispose]() {
      await listening.close(0)
      await pawl[Symbol.asyncDispose]()
    },
  }
}
