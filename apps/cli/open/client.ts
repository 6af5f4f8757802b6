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

export interface ClientConnection extends AsyncDisposable {
  readonly client: Client
  /** The newest conversation: of the folder if there is one, otherwise of the person. */
  newest(): Promise<string | undefined>
  /** The conversations of the folder, newest first, when it was opened; empty without a folder. */
  readonly inFolder: readonly string[]
  /**
   * Call when a conversation was created or opened: takes over work that a failed process left, and records it for the
   * folder.
   */
  resume(id: string): void
  /** Call when a conversation was created. */
  begun(id: string): void
  /** Fields of a new conversation that depend on where its tools run. */
  readonly conversationDefaults: { readonly site?: "device"; readonly deviceId?: string }
}

interface Where {
  readonly log: Log
  readonly recent: RecentSecrets
  readonly dir: string | undefined
  readonly server: string | undefined
  /** The buffers of the editor that works in the folder. */
  readonly buffers?: EditorBuffers | undefined
  /** Neither indexes nor searches: another process does the indexing. */
  readonly leavesIndexes?: boolean
  /** The command acts as the operator, who owns the data folder: the person has the scope "admin". Not for agents. */
  readonly isOperator?: boolean
}

/** Opens a client of a server in this process, or of a remote one. */
export async function openClient(config: Config, where: Where): Promise<ClientConnection> {
  const { log, dir, server, buffers } = where
  if (server !== undefined) return atServer(config, toUrl(server).replace(/(?<!\/)\/+$/, ""), where)
  const settings = withTerminalLimit(config)
  const inProcess = {
    ...{ log, recent: where.recent },
    indexing: where.leavesIndexes ? ("none" as const) : undefined,
    isOperator: where.isOperator ?? false,
  }
  if (dir === undefined) {
    const { client, resume, close } = await openInProcess(settings, inProcess)
    return toConnection({ client, resume, close }, { newest: () => newestOf(client), inFolder: [] })
  }
  const { client, resume, close, conversations } = await openEmbedded(settings, { ...inProcess, dir, buffers })
  return toConnection(
    { client, resume, close },
    { newest: async () => conversations.newest, inFolder: conversations.all },
  )
}

/** Applies the run limit of the terminal if no setting names one. */
export function withTerminalLimit(config: Config): Config {
  if (!config.usesUsualRunSeconds) return config
  return { ...config, limits: { ...config.limits, runSeconds: TERMINAL_RUN_SECONDS } }
}

function toConnection(
  { client, resume, close }: Pick<InProcess, "client" | "resume" | "close">,
  which: Pick<ClientConnection, "newest" | "inFolder">,
): ClientConnection {
  const go = (id: string) => resume(id as ConversationId)
  return { client, ...which, resume: go, begun() {}, conversationDefaults: {}, [Symbol.asyncDispose]: close }
}

/** With a folder, this machine becomes the device that works on its files. */
async function atServer(config: Config, server: string, { dir, buffers }: Where): Promise<ClientConnection> {
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
      resume: ignore,
      begun: ignore,
      conversationDefaults: {},
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
    resume: note,
    begun: note,
    conversationDefaults: { site: "device", deviceId },
    [Symbol.asyncDispose]: () => device[Symbol.asyncDispose](),
  }
}

async function newestOf(client: Client): Promise<string | undefined> {
  const { items } = await client.listConversations({ query: { limit: 1 } })
  return items[0]?.id
}
