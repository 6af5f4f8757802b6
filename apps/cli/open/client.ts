import type { Log } from "../../../core/shared/log.ts"
import { type Client, createClient } from "../../../client/index.ts"
import type { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import type { EditorBuffers } from "../../../packs/files/editor-buffers.ts"
import { CommandError, toUrl } from "../process/command.ts"
import type { Config } from "../settings/config.ts"
import { openFilesDevice } from "./files-device.ts"
import { FolderConversations } from "./folder-conversations.ts"
import { TERMINAL_RUN_SECONDS } from "../settings/table.ts"
import { type InProcess, openEmbedded, openInProcess } from "./embedded.ts"
import { connectionText } from "../../strings/serve.ts"

export interface ClientPlace extends AsyncDisposable {
  readonly client: Client
  /** The conversation that was begun last: of the folder where there is one, otherwise of the person. */
  newest(): Promise<string | undefined>
  /** The conversations of the folder, newest first, when it was opened; empty if no folder is named. */
  readonly inFolder: readonly string[]
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
  /** What it does adds nothing that is searched, and searches nothing: indexing is left to who does. */
  readonly leavesIndexes?: boolean
  /** The command acts as the operator, who owns the data folder: the person has the scope "admin". Not for agents. */
  readonly isOperator?: boolean
}

/** Pawl as a client sees it: the one in this process, or a server. */
export async function openClient(config: Config, where: Where): Promise<ClientPlace> {
  const { log, dir, server, buffers } = where
  if (server !== undefined) return atServer(config, toUrl(server).replace(/(?<!\/)\/+$/, ""), where)
  const settings = withTerminalLimit(config)
  const inProcess = {
    ...{ log, recent: where.recent },
    indexing: where.leavesIndexes ? ("none" as const) : undefined,
    isOperator: where.isOperator ?? false,
  }
  if (dir === undefined) {
    const { client, takeUp, close } = await openInProcess(settings, inProcess)
    return toPlace({ client, takeUp, close }, { newest: () => newestOf(client), inFolder: [] })
  }
  const { client, takeUp, close, conversations } = await openEmbedded(settings, { ...inProcess, dir, buffers })
  return toPlace({ client, takeUp, close }, { newest: async () => conversations.newest, inFolder: conversations.all })
}

/** With the limit of the terminal if no setting names one. */
export function withTerminalLimit(config: Config): Config {
  if (!config.usesUsualRunSeconds) return config
  return { ...config, limits: { ...config.limits, runSeconds: TERMINAL_RUN_SECONDS } }
}

function toPlace(
  { client, takeUp, close }: Pick<InProcess, "client" | "takeUp" | "close">,
  which: Pick<ClientPlace, "newest" | "inFolder">,
): ClientPlace {
  const go = (id: string) => takeUp(id as ConversationId)
  return { client, ...which, takeUp: go, begun() {}, beginsWith: {}, [Symbol.asyncDispose]: close }
}

/** With a folder this machine is the device that its files are worked on by. */
async function atServer(config: Config, server: string, { dir, buffers }: Where): Promise<ClientPlace> {
  const { token, dataFolder } = config
  if (!token) throw new CommandError(connectionText.missingToken)
  const client = createClient({ baseUrl: server, token })
  if (dir === undefined) {
    const ignore = () => {}
    const nothing = async () => {}
    return {
      client,
      newest: () => newestOf(client),
      inFolder: [],
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
    inFolder: conversations.all,
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
