import { join, resolve } from "node:path"
import { adapters } from "../../adapters/list.ts"
import { openBuiltFiles } from "../compose/built-files.ts"
import { composeServer } from "../compose/compose-server.ts"
import type { Mcp } from "../compose/open-mcp.ts"
import type { OpenedEngine } from "../compose/open-engine.ts"
import { baseUrl, settingsIn, toLink } from "../compose/settings.ts"
import { listenOn, startServer } from "../compose/start-server.ts"
import type { Agent as InternalAgent } from "../engine/definition/agent.ts"
import { defaultScopes } from "../protocol/account/sign-in.ts"
import type { Embedder } from "../protocol/workspace.ts"
import type { AppUser } from "../server/auth/credentials.ts"
import type { PackRoutes } from "../server/routes/packs.ts"
import type { Listening } from "../server/listen.ts"
import type { Parts } from "./parts.ts"

/** How requests reach this instance: through `fetch`, inside your own web framework, and through `listen`. */
export interface HttpOptions {
  /** The path under which your framework mounts `fetch`, such as `/pawl`. Default: none. */
  readonly prefix?: string
  /** The address that browsers use. Needed if it is not a loopback address, because the `Host` of each request is checked. */
  readonly publicUrl?: string
  /** Origins of other sites whose pages may send requests with a token. */
  readonly allowedOrigins?: readonly string[]
  /** The folder for databases and files of users. Default: `.pawl` in the working folder. */
  readonly dataFolder?: string
  /**
   * Returns the name of the user who sends a request to `fetch`, from your app's own session. A name that Pawl does not
   * know becomes a user. Without a name, the request needs a token (`tokens.create`).
   */
  readonly user?: (request: Request) => string | null | undefined | Promise<string | null | undefined>
  /** Finds notes and documents by meaning. Without it, search uses words only. */
  readonly embedder?: Embedder
}

/** Options of `listen`, which serves the HTTP API and the web page: the port, the host and the public address. */
export interface ListenOptions {
  /** The port; 0 selects a free one. */
  readonly port: number
  /** Default: 127.0.0.1, which only this machine can reach. */
  readonly host?: string
  /** The address that browsers use, if it differs. Default: `http.publicUrl`. */
  readonly publicUrl?: string
  /** The folder for databases and files of users. Default: `http.dataFolder`. */
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

/** The parts of an instance that its HTTP server is composed from. */
export interface Served {
  readonly parts: Parts
  readonly engine: OpenedEngine
  readonly agents: readonly InternalAgent[]
  readonly http: HttpOptions
  readonly mcp: Mcp | undefined
  readonly packRoutes: PackRoutes["packRoutes"] | undefined
}

interface ServedAddress {
  readonly host: string
  readonly publicUrl: string | undefined
  readonly dataFolder: string | undefined
  /** Ports of the routes besides those of every server. */
  readonly ports: Partial<ReturnType<typeof openBuiltFiles>> & { readonly appUser?: AppUser | undefined }
}

function compose(
  { parts, engine, agents, http, mcp, packRoutes = [] }: Served,
  { host, publicUrl, dataFolder, ports }: ServedAddress,
) {
  const { store, models, devices, metrics, storesTraces } = parts
  const { clock, log, bus } = engine.ports
  const folder = resolve(dataFolder ?? ".pawl")
  const { allowedOrigins = [] } = http
  const settings = { ...settingsIn(folder), host, publicUrl, allowedOrigins, sqliteRoot: join(folder, "databases") }
  const replaced = {
    clock,
    log,
    bus,
    store,
    models,
    devices,
    metrics,
    storesTraces,
    ports: { ...ports, packRoutes },
    adapters,
    embedder: http.embedder,
    mcp,
  }
  return composeServer(settings, { ...replaced, pawl: engine, agents: () => agents })
}

/** Starts the HTTP server and the page over this instance. The second return value stops it. */
export async function openListening(
  served: Served,
  owner: string,
  { port, host = "127.0.0.1", ...options }: ListenOptions,
): Promise<{ readonly server: ListeningServer; close(): Promise<void> }> {
  const { store } = served.parts
  const { clock } = served.engine.ports
  const { publicUrl = served.http.publicUrl, dataFolder = served.http.dataFolder } = options
  await using opening = new AsyncDisposableStack()
  const composed = opening.use(await compose(served, { host, publicUrl, dataFolder, ports: openBuiltFiles() }))
  const running = await startServer(composed, await listenOn(composed, port))
  opening.defer(() => running.close(GRACE_MS))
  const person = await store.people.ensure(owner, clock.now())
  const secret = await store.sessions.createLink(person, [...defaultScopes, "admin"], clock.now())
  const open = opening.move()
  const signInLink = toLink(baseUrl({ publicUrl, host, port }, running.url), secret)
  return { server: { url: running.url, signInLink }, close: () => open.disposeAsync() }
}

/**
 * Returns the server as a function of a request, for the program's own web framework. The page and WebSocket need a
 * socket of their own, so only `listen` serves them.
 */
export async function openFetch(
  served: Served,
): Promise<{ fetch(request: Request): Promise<Response>; close(): Promise<void> }> {
  const { publicUrl, dataFolder, user, prefix = "" } = served.http
  await using opening = new AsyncDisposableStack()
  const ports = { appUser: user }
  const composed = opening.use(await compose(served, { host: "127.0.0.1", publicUrl, dataFolder, ports }))
  const noSocket: Listening = { url: publicUrl ?? "", close: async () => {} }
  const running = await startServer(composed, noSocket)
  opening.defer(() => running.close(GRACE_MS))
  const open = opening.move()
  return {
    fetch: async (request) => composed.app.fetch(withoutPrefix(request, prefix)),
    close: () => open.disposeAsync(),
  }
}

/** Removes the path under which the program mounts Pawl. Some frameworks have removed it already. */
function withoutPrefix(request: Request, prefix: string): Request {
  const url = new URL(request.url)
  if (prefix === "" || (url.pathname !== prefix && !url.pathname.startsWith(`${prefix}/`))) return request
  url.pathname = url.pathname.slice(prefix.length) || "/"
  return new Request(url, request)
}
