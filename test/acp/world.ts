import { randomUUID } from "node:crypto"
import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import type { EditorOffers } from "../../adapters/acp/editor.ts"
import { serveEditor } from "../../adapters/acp/serve-editor.ts"
import type { Model } from "../../core/engine/model.ts"
import { type Client, createClient } from "../../client/index.ts"
import { composeServer } from "../../core/compose/compose-server.ts"
import { settingsIn } from "../../core/compose/settings.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import type { Policy } from "../../core/engine/gate/policy.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { WordEmbedder } from "../support/word-embedder.ts"
import { EditorSide, type EditorSideOptions } from "./editor.ts"

export interface AcpWorld extends AsyncDisposable {
  readonly dir: string
  /** Our own client, for the same person. */
  readonly client: Client
  /** Connects an editor and initializes it. */
  edit(options?: EditorSideOptions): Promise<EditorSide>
  /** Connects an editor whose bytes the test writes. */
  raw(): {
    readonly output: WritableStream<Uint8Array>
    readonly input: ReadableStream<Uint8Array>
    ended: Promise<void>
  }
}

/** A Pawl on a folder with these files, for editors in this process: set up as by `pawl acp`, with a model of the test. */
export async function openAcpWorld(
  url: string,
  model: Model,
  files: Readonly<Record<string, string>> = {},
  policy: Partial<Policy> = {},
): Promise<AcpWorld> {
  const dir = dataFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(dir, dirname(path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const usual = settingsIn(dataFolder())
  const settings = { ...usual, databaseUrl: url, durability: "normal" as const, requestsPerMinute: 0 }
  const folder = openFolder(dir, undefined, [], { isTrusted: true })
  // Set when an editor connects.
  const held: { files?: EditorOffers["files"] } = {}
  const buffers = {
    read: async (path: string) => held.files?.read(path),
    get write() {
      return held.files?.write
    },
  }
  const server = await composeServer(
    { ...settings, policy: { ...usual.policy, ...policy } },
    { model, folder, buffers, embedder: new WordEmbedder() },
  )
  const person = await server.store.people.ensure(`ada-${randomUUID()}`, Date.now())
  const { token } = await server.store.people.createToken(person, ["read", "chat", "approve", "manage"], Date.now())
  const fetch = async (input: string | URL | Request, init?: RequestInit) => server.app.fetch(new Request(input, init))
  const client = createClient({ baseUrl: "http://localhost", token, fetch: fetch as typeof globalThis.fetch })
  const stopping = new AbortController()
  const serving: Promise<void>[] = []
  const begun = new Map<string, string>()
  const places = {
    takesServers: false,
    open: async (_folder: string, brings: EditorOffers) => ({
      client: ((held.files = brings.files), client),
      dir,
      realDir: dir,
      workFile: async (path: string) => {
        const place = relative(dir, path)
        return place.startsWith("..") ? undefined : { path: place, trusted: true }
      },
      unused: brings.servers.map(({ name }) => `${name} is not used.`),
      begins: { agent: "files" },
      entered: (id: string) => void begun.set(id, dir),
    }),
    folders: () => begun,
  }

  function raw() {
    const [there, back] = [new TransformStream<Uint8Array>(), new TransformStream<Uint8Array>()]
    const info = { name: "pawl", version: "0" }
    const { signal } = stopping
    const ended = serveEditor({
      ...{ input: there.readable, output: back.writable, places, folder: dir, info, signal },
      failed(error) {
        throw error
      },
    })
    serving.push(ended.catch(() => {}))
    return { output: there.writable, input: back.readable, ended }
  }

  return {
    dir,
    client,
    raw,
    async edit(options) {
      const { output, input } = raw()
      const editor = new EditorSide(output, input, options)
      await editor.initialize()
      return editor
    },
    async [Symbol.asyncDispose]() {
      stopping.abort()
      await Promise.all(serving)
      await server.close()
      folder[Symbol.dispose]()
    },
  }
}
