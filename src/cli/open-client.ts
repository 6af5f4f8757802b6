import type { Log } from "../agent/ports.ts"
import { type Client, createClient } from "../client/index.ts"
import type { RecentSecrets } from "../models/recent-secrets.ts"
import type { ConversationId } from "../protocol/ids.ts"
import { CommandError } from "./command.ts"
import type { Config } from "./config.ts"
import { toUrl } from "./invite.ts"
import { type InProcess, openEmbedded, openInProcess } from "./open-embedded.ts"

export interface ClientPlace extends AsyncDisposable {
  readonly client: Client
  /** The conversation that was begun last: of the folder where there is one, otherwise of the person. */
  newest(): Promise<string | undefined>
  /** Sees to it that what a dead process has left of a conversation goes on. */
  takeUp(id: string): void
  /** What a new conversation has to say about its place. */
  readonly beginsWith: { readonly site?: "device"; readonly deviceId?: string }
}

interface Where {
  readonly log: Log
  readonly recent: RecentSecrets
  readonly dir: string | undefined
  readonly server: string | undefined
}

/** Pawl as a client sees it: the one in this process, or a server. */
export async function openClient(config: Config, { log, recent, dir, server }: Where): Promise<ClientPlace> {
  if (server !== undefined) return atServer(config, toUrl(server), dir)
  if (dir === undefined) {
    const { client, takeUp, close } = await openInProcess(config, { log, recent })
    return toPlace({ client, takeUp, close }, () => newestOf(client))
  }
  const { client, takeUp, close, conversations } = await openEmbedded(config, { log, recent, dir })
  return toPlace({ client, takeUp, close }, async () => conversations.newest)
}

function toPlace(
  { client, takeUp, close }: Pick<InProcess, "client" | "takeUp" | "close">,
  newest: ClientPlace["newest"],
): ClientPlace {
  const go = (id: string) => takeUp(id as ConversationId)
  return { client, newest, takeUp: go, beginsWith: {}, [Symbol.asyncDispose]: close }
}

function atServer({ token }: Config, server: string, dir: string | undefined): ClientPlace {
  if (!token) throw new CommandError("Say who asks: PAWL_TOKEN, or --token; `pawl token create` makes one.")
  if (dir !== undefined)
    throw new CommandError("Over --server the files of this machine cannot be worked on: leave --dir or --server out.")
  const client = createClient({ baseUrl: server, token })
  return {
    client,
    newest: () => newestOf(client),
    takeUp() {},
    beginsWith: {},
    async [Symbol.asyncDispose]() {},
  }
}

async function newestOf(client: Client): Promise<string | undefined> {
  const { items } = await client.listConversations({ query: { limit: 1 } })
  return items[0]?.id
}
