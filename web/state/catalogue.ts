import { mayPass } from "../../src/client/index.ts"
import { client } from "./client.ts"
import { Store } from "./store.ts"
import { whenBack } from "./when-back.ts"

/** What this server has: models, agents, tools. */
export interface Catalogue {
  readonly models: Awaited<ReturnType<typeof client.listModels>>
  readonly agents: Awaited<ReturnType<typeof client.listAgents>>["items"]
  readonly tools: Awaited<ReturnType<typeof client.listTools>>["items"]
}

/** Undefined until it is known, and where it cannot be had: a page without pickers is better than none. */
export const catalogue = new Store<Catalogue | undefined>(undefined)

/** It changes with a restart of the server or a stored key; whoever stores one asks again. */
export async function loadCatalogue(): Promise<void> {
  const [models, agents, tools] = await Promise.all([client.listModels(), client.listAgents(), client.listTools()])
  catalogue.set({ models, agents: agents.items, tools: tools.items })
}

/** How long the server waits for endpoints that it asks; nobody sees less meanwhile. */
const WAIT_SECONDS = 8

/** The models once more, for somebody who looks at them: endpoints are asked which they have, `again` even if just now. */
export async function lookAtModels(again: boolean): Promise<void> {
  const query = { wait: WAIT_SECONDS, ...(again ? { refresh: "true" as const } : {}) }
  const models = await client.listModels({ query })
  const known = catalogue.value
  if (known) catalogue.set({ ...known, models })
}

/** Reads it, and where the server is away again until it is there: without it there are no pickers. */
export function keepCatalogue(signal: AbortSignal, tries = 0): void {
  loadCatalogue().catch((error: unknown) => {
    if (signal.aborted || !mayPass(error)) return
    const leave = whenBack(tries, () => keepCatalogue(signal, tries + 1))
    signal.addEventListener("abort", leave, { once: true })
  })
}
