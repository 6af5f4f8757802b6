import { realpathSync } from "node:fs"
import type { EditorBrings, EditorPlace, EditorPlaces } from "../../acp/place.ts"
import type { Log } from "../../agent/ports.ts"
import type { RecentSecrets } from "../../models/providers/errors/recent-secrets.ts"
import type { Config } from "../settings/config.ts"
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
    async open(folder, { files, servers }: EditorBrings) {
      const dir = realFolder(folder)
      const opening = open.get(dir) ?? openClient(config, { log, recent, dir, server, buffers: files })
      open.set(dir, opening)
      // One that could not be opened is tried again when it is next named.
      opening.catch(() => open.delete(dir))
      const { client, takeUp, beginsWith } = await opening
      const unused = servers.map(({ name }) => `The MCP server ${name} of this editor is not used.`)
      return { client, dir, unused, begins: { ...given(choices), ...beginsWith }, entered: takeUp }
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

/** What was left out is as it usually is. */
function given({ begins }: EditorChoices): EditorPlace["begins"] {
  const { agent = "files", ...rest } = begins ?? {}
  return { agent, ...rest }
}

/** As conversations are noted under it. One that is not there is refused by whoever opens it. */
function realFolder(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return folder
  }
}
