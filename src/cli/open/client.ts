import type { Log } from "../../agent/ports.ts"
import { type Client, createClient } from "../../client/index.ts"
import type { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { ConversationId } from "../../protocol/ids.ts"
import type { EditorBuffers } from "../../packs/files/editor-buffers.ts"
import { CommandError } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import { openFilesDevice } from "./files-device.ts"
import { FolderConversations } from "./folder-conversations.ts"
import { toUrl } from "../settings/server-flag.ts"
import { type InProcess, openEmbedded, openInProcess } from "./embedded.ts"

export interface ClientPlace extends AsyncDisposable {
  readonly client: Client
  /** The conversation that was begun last: of the folder where there is one, otherwise of the person. */
  newest(): Promise<string | undefined>
  /** A conversation was begun or gone on with: what a dead process has left of it goes on, and the folder remembers it. */
  takeUp(id: string): void
  /** A conversation was begun. */
  begun(id: string): void
  /** What a new conversation has to say about its place. */
  readonly beginsWith: { readonly site?: "device"; readonly deviceId?: string }
}

interface Where {
  readonly log: Log
  readonly recent: RecentSecrets
  readonly dir: string | undefined
  readonly server: string | undefined
  /** The editor of whoever works in the folder. */
  readonly buffers?: EditorBuffers | undefined
  /** For one question: what takes longer to begin with than to do without is not begun. */
  readonly isBrief?: boolean
  /** What it does adds nothing that is searched, and searches nothing: indexing is left to who does. */
  readonly leavesIndexes?: boolean
}

/** Pawl as a client sees it: the one in this process, or a server. */
export async function openClient(config: Config, where: Where): Promise<ClientPlace> {
  const { log, dir, server, buffers } = where
  if (server !== undefined) return atServer(config, toUrl(server).replace(/(?<!\/)\/+$/, ""), where)
  const inProcess = {
    ...{ log, recent: where.recent, localEmbedder: where.isBrief ? ("none" as const) : undefined },
    indexing: where.leavesIndexes ? ("none" as const) : undefined,
  }
  if (dir === undefined) {
    const { client, takeUp, close } = await openInProcess(config, inProcess)
    return toPlace({ client, takeUp, close }, () => newestOf(client))
  }
  const { client, takeUp, close, conversations } = await openEmbedded(config, { ...inProcess, dir, buffers })
  return toPlace({ client, takeUp, close }, async () => conversations.newest)
}

function toPlace(
  { client, takeUp, close }: Pick<InProcess, "client" | "takeUp" | "close">,
  newest: ClientPlace["newest"],
): ClientPlace {
  const go = (id: string) => takeUp(id as ConversationId)
  return { client, newest, takeUp: go, begun() {}, beginsWith: {}, [Symbol.asyncDispose]: close }
}

/** With a folder this machine is the device that its files are worked on by. */
async function atServer(config: Config, server: string, { dir, buffers }: Where): Promise<ClientPlace> {
  const { token, dataFolder } = config
  if (!token) throw new CommandError("Say who asks: PAWL_TOKEN, or --token; `pawl token create` makes one.")
  const client = createClient({ baseUrl: server, token })
  if (dir === undefined) {
    const ignore = () => {}
    const nothing = async () => {}
    return {
      client,
      newest: () => newestOf(client),
      takeUp: ignore,
      begun: ignore,
      beginsWith: {},
      [Symbol.asyncDispose]: nothing,
    }
  }
  const device = await openFilesDevice(config, { server, dir, buffers })
  const { deviceId } = device
  const conversations = new FolderConversations(dataFolder, `${server} ${device.dir}`)
  const note = (id: string) => conversations.note(id as ConversationId)
  return {
    client,
    newest: async () => conversations.newest,
    takeUp: note,
    begun: note,
    beginsWith: { site: "device", deviceId },
    [Symbol.asyncDispose]: () => device[Symbol.asyncDispose](),
  }
}

async function newestOf(client: Client): Promise<string | undefined> {
  const { items } = await client.listConversations({ query: { limit: 1 } })
  return items[0]?.id
}
