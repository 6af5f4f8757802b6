import { join, resolve } from "node:path"
import type { Agent as InternalAgent } from "../agent/definition/agent.ts"
import type { OpenedEngine } from "../compose/open-engine.ts"
import { openBuiltPage } from "../compose/built-page.ts"
import { composeServer } from "../compose/compose-server.ts"
import { baseUrl, toLink } from "../compose/server-url.ts"
import { settingsIn } from "../compose/settings.ts"
import { listenOn, startServer } from "../compose/start-server.ts"
import { usualScopes } from "../protocol/account/scopes.ts"
import type { Parts } from "./parts.ts"

export interface ListenOptions {
  /** 0 for any free one. */
  readonly port: number
  /** 127.0.0.1 without: nobody but this machine. */
  readonly host?: string
  /** Where people reach it, if that is another address. */
  readonly publicUrl?: string
  /** Where databases and files of people are put; `.pawl` in the working folder without. */
  readonly dataFolder?: string
}

/** A server over what is open here, until that is closed. */
export interface ListeningServer {
  readonly url: string
  /** Signs a browser in as the owner, once, within 15 minutes: what this program asks, they see, and decide. */
  readonly signInLink: string
}

/** How long answers under way may take once it is closed. */
const GRACE_MS = 5000

interface Listens {
  readonly parts: Parts
  readonly engine: OpenedEngine
  readonly agents: readonly InternalAgent[]
  readonly owner: string
}

/** The whole server, with the page, over the engine of this program. What is returned beside it puts it down. */
export async function openListening(
  { parts, engine, agents, owner }: Listens,
  { port, host = "127.0.0.1", publicUrl, dataFolder = ".pawl" }: ListenOptions,
): Promise<{ readonly server: ListeningServer; close(): Promise<void> }> {
  const { store, models, devices, metrics, keepsTraces } = parts
  const { clock, log, bus } = engine.ports
  const folder = resolve(dataFolder)
  const settings = { ...settingsIn(folder), host, publicUrl, sqliteRoot: join(folder, "databases") }
  await using opening = new AsyncDisposableStack()
  const ports = { page: openBuiltPage() }
  const replaced = {
    clock,
    log,
    bus,
    store,
    models,
    devices,
    metrics,
    keepsTraces,
    pawl: engine,
    agents: () => agents,
    ports,
  }
  const composed = opening.use(await composeServer(settings, replaced))
  const running = await startServer(composed, await listenOn(composed, port))
  opening.defer(() => running.close(GRACE_MS))
  const person = await store.people.ensure(owner, clock.now())
  const secret = await store.sessions.createLink(person, [...usualScopes, "admin"], clock.now())
  const open = opening.move()
  const signInLink = toLink(baseUrl({ publicUrl, host, port }, running.url), secret)
  return { server: { url: running.url, signInLink }, close: () => open.disposeAsync() }
}
