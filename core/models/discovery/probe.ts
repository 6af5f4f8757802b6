import type { ProviderProbe } from "../providers/model-listing.ts"
import { JsonClient, ListFault } from "./json-client.ts"

export interface ProbedProvider {
  readonly provider: string
  /** `no list`: it was reached, but has no free route. `unasked`: it has no known free route. */
  readonly outcome: "answers" | "no list" | "failed" | "unasked"
  /** The reason for a failure, in our words. */
  readonly problem?: string
}

/** Whether a provider can be reached and accepts its key. */
export async function probe(
  { url, headers }: ProviderProbe,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<Omit<ProbedProvider, "provider">> {
  const listing = { shape: "chat", base: url, query: "", headers, hasPrices: false } as const
  try {
    await new JsonClient({ listing, fetch }, signal).ask(url)
    return { outcome: "answers" }
  } catch (error) {
    if (!(error instanceof ListFault)) throw error
    // Gateways often pass on model requests only.
    if (error.status === 404 || error.status === 405) return { outcome: "no list" }
    return { outcome: "failed", problem: error.message }
  }
}
