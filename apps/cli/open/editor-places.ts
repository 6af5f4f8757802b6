import { createHash } from "node:crypto"
import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import type { McpServer as EditorServer } from "@agentclientprotocol/sdk"
import type { EditorOffers, EditorFiles, EditorFolder, EditorPlaces } from "../../../adapters/acp/editor.ts"
import type { RecentSecrets } from "../../../core/models/providers/errors/recent-secrets.ts"
import type { Log } from "../../../core/shared/log.ts"
import {
  type HttpTarget,
  type McpServer,
  type ProgramTarget,
  sentSecrets,
} from "../../../core/tools/mcp/definition/server.ts"
import { mcpText } from "../../strings/mcp.ts"
import { pathInFolder } from "../../terminal/session/upload-files.ts"
import type { Config } from "../settings/config.ts"
import { type ClientConnection, openClient } from "./client.ts"
import { foldersIn } from "./folder-conversations.ts"
import { TrustedFolders } from "./trusted-folders.ts"

interface EditorChoices {
  readonly log: Log
  readonly recent: RecentSecrets
  readonly server: string | undefined
  readonly begins: EditorFolder["begins"]
}

/** Opens a client for each folder that an editor names, as `pawl chat` does. */
export function openEditorPlaces(config: Config, choices: EditorChoices): EditorPlaces & AsyncDisposable {
  const { log, recent, server } = choices
  const open = new Map<string, Promise<ClientConnection>>()
  return {
    takesServers: server === undefined,
    async open(folder, { files, servers }: EditorOffers) {
      const dir = realFolder(folder)
      const named = resolve(folder)
      const begins = given(choices)
      const { used, unused } =
        server === undefined
          ? toServers(servers, { dir, agent: begins.agent ?? "files", others: config.mcp })
          : notAtServer(servers)
      // The tools of a client are fixed when it is opened, so other MCP servers need another client on the same data.
      const key = JSON.stringify([dir, used.map((each) => each.key)])
      const settings = used.length === 0 ? config : { ...config, mcp: [...config.mcp, ...used] }
      const opening =
        open.get(key) ??
        openClient(settings, { log, recent, dir, server, buffers: files && asNamed(files, dir, named) })
      open.set(key, opening)
      // A failed one is opened again on the next request.
      opening.catch(() => open.delete(key))
      const { client, resume, conversationDefaults } = await opening
      return {
        ...{ client, dir: named, realDir: dir, unused },
        workFile: (path) => workFileIn(dir, path, config),
        begins: { ...begins, ...conversationDefaults },
        entered: resume,
      }
    },
    folders() {
      const known = [...foldersIn(config.dataFolder)]
      // Conversations on a remote server are stored under its address.
      const prefix = server === undefined ? "" : `${server.replace(/(?<!\/)\/+$/, "")} `
      return new Map(
        known.flatMap(([id, folder]) => (folder.startsWith(prefix) ? [[id, folder.slice(prefix.length)]] : [])),
      )
    },
    async [Symbol.asyncDispose]() {
      const opened = await Promise.allSettled(open.values())
      for (const each of opened) if (each.status === "fulfilled") await each.value[Symbol.asyncDispose]()
    },
  }
}

/** A file that does not exist is in no folder. */
async function workFileIn(dir: string, file: string, { dataFolder }: Pick<Config, "dataFolder">) {
  const path = await pathInFolder(file, { root: dir }).catch(() => undefined)
  return path === undefined ? undefined : { path, trusted: new TrustedFolders(dataFolder).answerFor(dir) ?? false }
}

/** MCP servers of the editor would run where the conversation does, which is remote. */
const notAtServer = (servers: EditorOffers["servers"]) => ({
  used: [],
  unused: servers.map(({ name }) => mcpText.unusedOnServer(name)),
})

function given({ begins }: EditorChoices) {
  const { agent = "files", ...rest } = begins ?? {}
  return { agent, ...rest }
}

/** Translates paths for an editor that opened the folder through a link: it knows the files by the path of the link. */
function asNamed({ read, write }: EditorFiles, dir: string, named: string): EditorFiles {
  const toNamed = (path: string) => (path.startsWith(dir) ? `${named}${path.slice(dir.length)}` : path)
  return {
    read: (path) => read(toNamed(path)),
    write: write && ((path, text) => write(toNamed(path), text)),
  }
}

/** Conversations are stored under the real path. A missing folder is refused when it is opened. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}

const MAX_SERVERS = 50
const TIMEOUT_SECONDS = 60
const TASK_SECONDS = 3600

interface EditorServers {
  readonly used: readonly McpServer[]
  /** Why servers are not used, as sentences. */
  readonly unused: readonly string[]
}

/**
 * Converts the MCP servers that an editor sends. The person has configured them in it on this machine, so they are
 * started as the editor would start them. Their tools ask for approval like all others.
 */
export function toServers(
  given: readonly EditorServer[],
  { dir, agent, others }: { readonly dir: string; readonly agent: string; readonly others: readonly McpServer[] },
): EditorServers {
  const [used, unused]: [McpServer[], string[]] = [[], []]
  for (const server of given) {
    const target = toTarget(server, dir)
    if (!target) unused.push(mcpText.unusedSse(server.name))
    else if (used.length >= MAX_SERVERS) unused.push(mcpText.unusedTooMany(server.name, MAX_SERVERS))
    else used.push(toServer({ name: newName(server.name, [...others, ...used]), target, agent }))
  }
  return { used, unused }
}

function toServer({ name, target, agent }: Pick<McpServer, "name" | "target"> & { agent: string }): McpServer {
  // Another command or address is another server, for which earlier approvals do not count.
  const hash = createHash("sha256")
    .update(JSON.stringify([name, target]))
    .digest("hex")
    .slice(0, 32)
  const words = Object.values(target.kind === "http" ? target.headers : target.environment)
  return {
    ...{ key: `editor:${hash}`, version: hash, name, isPersons: false, target, agents: [agent] },
    ...{ rules: {}, idempotent: [], isPublic: false, timeoutSeconds: TIMEOUT_SECONDS, taskSeconds: TASK_SECONDS },
    secrets: sentSecrets(words),
  }
}

function toTarget(server: EditorServer, dir: string): ProgramTarget | HttpTarget | undefined {
  const named = (entries: readonly { readonly name: string; readonly value: string }[]) =>
    Object.fromEntries(entries.map(({ name, value }) => [name, value]))
  if (!("type" in server)) {
    const command = [server.command, ...server.args]
    return { kind: "program", command, environment: named(server.env), folder: dir, network: true, sandbox: false }
  }
  return server.type === "http" ? { kind: "http", url: server.url, headers: named(server.headers) } : undefined
}

/** The name as a prefix of tool names: lower-case letters and digits, unique. */
function newName(name: string, taken: readonly McpServer[]): string {
  const letters = name.toLowerCase().replaceAll(/[^a-z0-9]/g, "")
  const plain = (/^[a-z]/.test(letters) ? letters : `mcp${letters}`).slice(0, 20)
  const isTaken = (wanted: string) => taken.some((server) => server.name === wanted)
  for (let number = 1; ; number++) {
    const wanted = number === 1 ? plain : `${plain}${number}`
    if (!isTaken(wanted)) return wanted
  }
}
