import { adapters } from "../../adapters/list.ts"
import { type ComposedServer, composeServer } from "../../core/compose/compose-server.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { newId, type OpenedEngine } from "../engine.ts"
import { listen } from "../../core/server/listen.ts"
import type { Place, Variant } from "../contender.ts"
import { benchAgent, complaining, model, PERSON, urlOf } from "./pawl.ts"

/** A server with its own port, for one person with one token. */
export interface Served extends AsyncDisposable {
  readonly pawl: OpenedEngine
  readonly url: string
  readonly token: string
  /** Asks the device of that name for a row over its socket. */
  askDevice(deviceId: string): Promise<unknown>
}

/** An app, and its way to call a device. */
export interface App {
  readonly fetch: (request: Request, env?: object) => Response | Promise<Response>
  readonly askDevice: Served["askDevice"]
}

/** The server as `pawl serve` composes it, with the benchmark's agent and model. */
export function openPawlServer(variant: Variant, place: Place, before?: (pawl: OpenedEngine) => void): Promise<Served> {
  return serve(variant, place, async ({ app, pawl, store, devices }) => {
    before?.(pawl)
    const { id: user } = await store.people.ensure(PERSON, Date.now())
    const signal = new AbortController().signal
    const call = { callId: newId("call"), action: "get", table: "tasks", data: { id: "task_1" } }
    const place = { user, conversation: newId("conv"), offer: "workspace" }
    return {
      fetch: app.fetch,
      askDevice: (deviceId) => devices.call({ ...place, deviceId }, call, { effect: "read", signal }),
    }
  })
}

/** In the order of `pawl serve`: the store, the port, then the work of failed processes. */
export async function serve(
  variant: Variant,
  place: Place,
  toApp: (server: ComposedServer, token: string) => Promise<App>,
): Promise<Served> {
  const { durability } = variant
  const settings = { ...settingsIn(place.folder), databaseUrl: urlOf(variant, place), durability, requestsPerMinute: 0 }
  const agents = () => [benchAgent(false)]
  const server = await composeServer(settings, { model, agents, adapters, log: complaining })
  const { people } = server.store
  const person = await people.ensure(PERSON, Date.now())
  const { token } = await people.createToken(person, ["read", "chat", "approve"], Date.now())
  const { fetch, askDevice } = await toApp(server, token)
  server.revocation.start()
  const listening = await listen(fetch, { host: "127.0.0.1", port: 0 })
  await server.runtime.recover()
  return {
    pawl: server.pawl,
    url: listening.url,
    token,
    askDevice,
    async [Symbol.asyncDispose]() {
      await listening.close(0)
      await server.close()
    },
  }
}
