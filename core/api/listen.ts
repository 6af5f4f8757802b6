import { join, resolve } from "node:path"
import { adapters } from "../../adapters/list.ts"
import type { Agent as InternalAgent } from "../engine/definition/agent.ts"
import type { OpenedEngine } from "../compose/open-engine.ts"
import { openBuiltFiles } from "../compose/built-files.ts"
import { composeServer } from "../compose/compose-server.ts"
import { baseUrl, settingsIn, toLink } from "../compose/settings.ts"
import { listenOn, startServer } from "../compose/start-server.ts"
import { defaultScopes } from "../protocol/account/sign-in.ts"
import type { Parts } from "./parts.ts"

/** Options of `listen`, which serves the HTTP API and the web page: the port, the host and the public address. */
export interface ListenOptions {
  /** The port; 0 selects a free one. */
  readonly port: number
  /** Default: 127.0.0.1, which only this machine can reach. */
  readonly host?: string
  /** The address that browsers use, if it differs. */
  readonly publicUrl?: string
  /** The folder for databases and files of users. Default: `.pawl` in the working folder. */
  readonly dataFolder?: string
}

/** A running HTTP server. It stops when the instance closes. */
export interface ListeningServer {
  readonly url: string
  /**
   * Signs a browser in as the owner. Valid once, for 15 minutes. The browser shows the conversations and proposals of
   * this program.
   */
  readonly signInLink: string
}

/** How long open responses may take after the instance closes. */
const GRACE_MS = 5000

interface Listens {
  readonly parts: Parts
  readonly engine: OpenedEngine
  readonly agents: readonly InternalAgent[]
  readonly owner: string
}

/** Starts the HTTP server and the page over this instance. The second return value stops it. */
export async function openListening(
  { parts, engine, agents, owner }: Listens,
  { port, host = "127.0.0.1", publicUrl, dataFolder = ".pawl" }: ListenOptions,
): Promise<{ readonly server: ListeningServer; close(): Promise<void> }> {
  const { store, models, devices, metrics, keepsTraces } = parts
  const { clock, log, bus } = engine.ports
  const folder = resolve(dataFolder)
  const settings = { ...settingsIn(folder), host, publicUrl, sqliteRoot: join(folder, "databases") }
  await using opening = new AsyncDisposableStack()
  const ports = openBuiltFiles()
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
    adapters,
  }
  const composed = opening.use(await composeServer(settings, replaced))
  const running = await startServer(composed, await listenOn(composed, port))
  opening.defer(() => running.close(GRACE_MS))
  const person = await store.people.ensure(owner, clock.now())
  const secret = await store.sessions.createLink(person, [...defaultScopes, "admin"], clock.now())
  const open = opening.move()
  const signInLink = toLink(baseUrl({ publicUrl, host, port }, running.url), secret)
  return { server: { url: running.url, signInLink }, close: () => open.disposeAsync() }
}
