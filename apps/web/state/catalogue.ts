import { canRetry } from "../../../client/index.ts"
import { client } from "./client.ts"
import { Store, useStore } from "./store.ts"
import { whenBack } from "./auto-retry.ts"

/** Models, agents and tools of this server. */
export interface Catalogue {
  readonly models: Awaited<ReturnType<typeof client.listModels>>
  readonly agents: Awaited<ReturnType<typeof client.listAgents>>["items"]
  readonly tools: Awaited<ReturnType<typeof client.listTools>>["items"]
}

/** Undefined until it is known, and if it cannot be read: the page works without pickers. */
export const catalogue = new Store<Catalogue | undefined>(undefined)

/** Whether an agent of this server has the tool. False until that is known. */
export function useHasTool(): (tool: string) => boolean {
  const agents = useStore(catalogue)?.agents ?? []
  return (tool) => agents.some(({ tools }) => tools.includes(tool))
}

/** Changes with a restart of the server or a stored key: call it again after storing one. */
export async function loadCatalogue(): Promise<void> {
  const [models, agents, tools] = await Promise.all([client.listModels(), client.listAgents(), client.listTools()])
  catalogue.set({ models, agents: agents.items, tools: tools.items })
}

/** How long the server waits for endpoints. Meanwhile the page shows the models it has. */
const WAIT_SECONDS = 8

/** Reads the models again and returns them. The server asks endpoints for their models; `again`: even if it just did. */
export async function refreshModels(again: boolean, wait = WAIT_SECONDS): Promise<Catalogue["models"]> {
  const models = await client.listModels({ query: { wait, ...(again ? { refresh: "true" as const } : {}) } })
  const known = catalogue.value
  if (known) catalogue.set({ ...known, models })
  return models
}

/** Sets the suggested model of the next conversation. */
export function suggestModel(name: string): void {
  const known = catalogue.value
  if (!known) return
  const { unavailableChoice: _, ...models } = known.models
  catalogue.set({ ...known, models: { ...models, default: name } })
}

/** Reads the catalogue, and retries until the server is reachable. */
export function followCatalogue(signal: AbortSignal, tries = 0): void {
  loadCatalogue().catch((error: unknown) => {
    if (signal.aborted || !canRetry(error)) return
    const leave = whenBack(tries, () => followCatalogue(signal, tries + 1))
    signal.addEventListener("abort", leave, { once: true })
  })
}
