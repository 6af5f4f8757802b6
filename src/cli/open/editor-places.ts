import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import type { EditorBrings, EditorFiles, EditorPlace, EditorPlaces } from "../../acp/place.ts"
import type { Log } from "../../agent/ports.ts"
import type { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { Config } from "../settings/config.ts"
import { toServers } from "./editor-servers.ts"
import { type ClientPlace, openClient } from "./client.ts"
import { foldersIn } from "./folder-conversations.ts"

interface EditorChoices {
  readonly log: Log
  readonly recent: RecentSecrets
  readonly server: string | undefined
  readonly begins: EditorPlace["begins"]
}

/** A Pawl for each folder that an editor works in, opened when it first names it; as `pawl chat` has one. */
export function openEditorPlaces(config: Config, choices: EditorChoices): EditorPlaces & AsyncDisposable {
  const { log, recent, server } = choices
  const open = new Map<string, Promise<ClientPlace>>()
  return {
    takesServers: server === undefined,
    async open(folder, { files, servers }: EditorBrings) {
      const dir = realFolder(folder)
      const named = resolve(folder)
      const begins = given(choices)
      const { used, unused } =
        server === undefined
          ? toServers(servers, { dir, agent: begins.agent ?? "files", others: config.mcp })
          : notAtServer(servers)
      // Which tools there are is settled when a Pawl is opened: other servers, another one over the same data.
      const key = JSON.stringify([dir, used.map((each) => each.key)])
      const settings = used.length === 0 ? config : { ...config, mcp: [...config.mcp, ...used] }
      const opening =
        open.get(key) ??
        openClient(settings, { log, recent, dir, server, buffers: files && asNamed(files, dir, named) })
      open.set(key, opening)
      // One that could not be opened is tried again when it is next named.
      opening.catch(() => open.delete(key))
      const { client, takeUp, beginsWith } = await opening
      return { client, dir: named, realDir: dir, unused, begins: { ...begins, ...beginsWith }, entered: takeUp }
    },
    folders() {
      const known = [...foldersIn(config.dataFolder)]
      // At a server they are noted with its address before them.
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

/** They would have to run where the conversation does, which is not here. */
const notAtServer = (servers: EditorBrings["servers"]) => ({
  used: [],
  unused: servers.map(
    ({ name }) =>
      `The MCP server ${name} of this editor is not used, because this conversation is at a server. Add it there, with pawl mcp add or in the page's settings.`,
  ),
})

/** What was left out is as it usually is. */
function given({ begins }: EditorChoices) {
  const { agent = "files", ...rest } = begins ?? {}
  return { agent, ...rest }
}

/** An editor that has opened a folder through a link knows its files by the names that lead through it. */
function asNamed({ read, write }: EditorFiles, dir: string, named: string): EditorFiles {
  const toNamed = (path: string) => (path.startsWith(dir) ? `${named}${path.slice(dir.length)}` : path)
  return {
    read: (path) => read(toNamed(path)),
    write: write && ((path, text) => write(toNamed(path), text)),
  }
}

/** As conversations are noted under it. One that is not there is refused by whoever opens it. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
