import { randomBytes } from "node:crypto"
import { adapters } from "../../../adapters/list.ts"
import { sleep, systemClock } from "../../../core/shared/time/clock.ts"
import { type Log, silentLog } from "../../../core/shared/log.ts"
import { type Client, createClient } from "../../../client/index.ts"
import type { Folder } from "../../../packs/files/folder/folder.ts"
import type { ConversationId, UserId } from "../../../core/protocol/ids.ts"
import { type Scope, defaultScopes } from "../../../core/protocol/account/sign-in.ts"
import type { Caller, People } from "../../../core/server/auth/credentials.ts"
import type { Store } from "../../../core/store/store.ts"
import { type ComposedServer, composeServer } from "../../../core/compose/compose-server.ts"
import type { Replacements } from "../../../core/compose/replacements.ts"
import { userName } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import { FolderConversations } from "./folder-conversations.ts"
import { toFolder } from "./trusted-folders.ts"

/** How often the folder's conversations are checked for work that a failed process left. */
const SWEEP_MS = 1000
export interface EmbeddedOptions extends Pick<Replacements, "recent" | "indexing" | "buffers"> {
  /** The work folder. */
  readonly dir: string
  readonly log?: Log
  /** The person has the scope "admin", too. */
  readonly isOperator?: boolean
}

/** A complete server in this process, used through its client: what works here also works with `--server`. */
export interface InProcess extends AsyncDisposable {
  readonly client: Client
  readonly user: { readonly id: UserId; readonly name: string }
  /** Sends a request as that person. */
  fetch(input: string | URL, init?: RequestInit): Promise<Response>
  /** Continues the work that a failed process left of a conversation, once its lease has expired. */
  resume(id: ConversationId): void
  close(): Promise<void>
}

export interface EmbeddedServer extends InProcess {
  /** The real path of its folder. */
  readonly dir: string
  /** The conversations that were created in this folder. */
  readonly conversations: FolderConversations
}

/** Opens a server with the agent `files` on a folder. */
export async function openEmbedded(config: Config, options: EmbeddedOptions): Promise<EmbeddedServer> {
  const folder = toFolder(options.dir, config)
  const dir = folder.root
  const conversations = new FolderConversations(config.dataFolder, dir)
  const opened = await openInProcess(config, { ...options, folder, begun: (id) => conversations.note(id) })
  return { ...opened, dir, conversations }
}

interface InProcessOptions extends Omit<EmbeddedOptions, "dir">, Pick<Replacements, "agents" | "embedder" | "models"> {
  /** Disposed of with the server. */
  readonly folder?: Folder
  /** Called with the id of each new conversation. */
  readonly begun?: (id: ConversationId) => void
}

/** Opens no port: requests are passed to the app as objects. */
export async function openInProcess(config: Config, options: InProcessOptions = {}): Promise<InProcess> {
  const { recent, indexing, folder, buffers, begun, agents, embedder, models } = options
  // Requests to a server of one's own are not worth logging.
  const log: Log = { ...(options.log ?? silentLog), info() {} }
  const scopes = options.isOperator ? ([...defaultScopes, "admin"] as const) : defaultScopes
  const ours = new Set<ConversationId>()
  const secret = randomBytes(24).toString("base64url")
  await using opening = new AsyncDisposableStack()
  if (folder) opening.use(folder)
  const server = opening.use(
    await composeServer(config, {
      ...{ log, recent, indexing, folder, buffers, agents, embedder, models, adapters },
      ports: ({ people }) => ({ people: withOwnerToken(people, secret, scopes) }),
      onLive(id, live) {
        if (live.type !== "events" || live.events[0]?.type !== "conversation_started") return
        ours.add(id)
        begun?.(id)
      },
    }),
  )
  const user = await server.store.people.ensure(userName(), server.clock.now())
  const client = createClient({
    baseUrl: "http://127.0.0.1",
    token: secret,
    fetch: async (input, init) => server.app.fetch(new Request(input, init)),
  })
  const stopping = new AbortController()
  const sweeping = sweep(server, ours, stopping.signal)
  opening.defer(async () => {
    stopping.abort()
    await sweeping
  })
  const closing = opening.move()
  let closed: Promise<void> | undefined
  const close = () => (closed ??= closing.disposeAsync())

  function resume(id: ConversationId): void {
    ours.add(id)
    server.bus.wake(id)
  }

  async function fetch(input: string | URL, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers)
    headers.set("authorization", `Bearer ${secret}`)
    return server.app.fetch(new Request(input, { ...init, headers }))
  }

  return { client, user, fetch, resume, close, [Symbol.asyncDispose]: close }
}

/**
 * Takes over only conversations of this folder: the writes of others would be refused here, and reads would see the
 * wrong files.
 */
async function sweep(
  { bus, log, store }: ComposedServer,
  ours: ReadonlySet<ConversationId>,
  stopping: AbortSignal,
): Promise<void> {
  while (!stopping.aborted) {
    await sleep(systemClock, SWEEP_MS, stopping)
    if (stopping.aborted || ours.size === 0) continue
    try {
      for (const id of await store.journal.abandoned(1000)) if (ours.has(id)) bus.wake(id)
    } catch (error) {
      log.warn("sweep_failed", { error })
    }
  }
}

/**
 * The person at this terminal is authenticated by a secret that exists only in this process: nothing is stored, and a
 * crash leaves nothing behind.
 */
function withOwnerToken(people: Store["people"], secret: string, scopes: readonly Scope[]): People {
  let owner: Caller | undefined
  const asOwner = async (now: number): Promise<Caller> => {
    const person = await people.ensure(userName(), now)
    return {
      person,
      scopes: new Set(scopes),
      credential: { type: "jwt", id: `embedded_${person.id}`, client: "terminal" },
    }
  }
  return {
    byToken: async (token, now) => (token === secret ? (owner ??= await asOwner(now)) : undefined),
    ensure: (name, now) => people.ensure(name, now),
    ofIssuer: (identity, now) => people.ofIssuer(identity, now),
    createToken: (whose, granted, now, made) => people.createToken(whose, granted, now, made),
    listTokens: (whose, page, now) => people.listTokens(whose, page, now),
    revokeToken: (whose, id, now) => people.revokeToken(whose, id, now),
  }
}
