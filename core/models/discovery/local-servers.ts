import { isThisMachine } from "../../protocol/databases/connections.ts"
import type { LocalModelServer } from "../../protocol/models/providers.ts"
import { JsonClient } from "./json-client.ts"
import { toRecord } from "./reported-model.ts"

/**
 * A port on which nothing listens refuses at once. A program that accepts and stays silent delays the caller this long.
 */
const TIMEOUT_MS = 500
/** A page that is reloaded does not cause new requests for this long. */
const FRESH_MS = 3000
const MAX_MODELS = 100
const MAX_NAME = 200

/** Finds model servers on this machine. Never sends a request to another machine. */
export class LocalModelServers {
  readonly #addresses: readonly string[]
  #found: { readonly at: number; readonly servers: Promise<LocalModelServer[]> } | undefined

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses.filter((address) => isThisMachine(new URL(address).hostname))
  }

  /** The model servers that answer now. */
  find(): Promise<LocalModelServer[]> {
    const now = performance.now()
    if (!this.#found || now - this.#found.at > FRESH_MS) {
      const servers = Promise.all(this.#addresses.map(identify))
      this.#found = { at: now, servers: servers.then((each) => each.flatMap((server) => server ?? [])) }
    }
    return this.#found.servers
  }
}

/** Which model server listens at an address; undefined if none does, or another program. */
async function identify(baseUrl: string): Promise<LocalModelServer | undefined> {
  const listing = { shape: "chat", base: baseUrl, query: "", headers: {}, hasPrices: false } as const
  // Not through the operator's proxy, which would resolve 127.0.0.1 on its own machine.
  const client = new JsonClient({ listing, fetch: globalThis.fetch, isPersonal: true }, AbortSignal.timeout(TIMEOUT_MS))
  const read = (path: string) => client.ask(`${baseUrl}${path}`).catch(() => undefined)
  const [version, list] = await Promise.all([read("/api/version"), read("/v1/models")])
  // Other programs use these ports too: Parcel, for one, serves pages on 1234.
  const { object, data } = toRecord(list)
  if (object !== "list") return undefined
  // Ollama without a model answers with null instead of an empty list.
  const rows: readonly unknown[] = Array.isArray(data) ? data.slice(0, MAX_MODELS) : []
  const models = rows.flatMap((row) => {
    const { id } = toRecord(row)
    return typeof id === "string" && id !== "" && id.length <= MAX_NAME ? [id] : []
  })
  const isOllama = typeof toRecord(version).version === "string"
  return isOllama
    ? { provider: "ollama", label: "Ollama", baseUrl, variable: "OLLAMA_HOST", models }
    : { provider: "lmstudio", label: "LM Studio", baseUrl, variable: "LM_STUDIO_ENDPOINT", models }
}
