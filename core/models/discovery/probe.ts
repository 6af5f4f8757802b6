import type { ProviderProbe } from "../providers/model-listing.ts"
import { JsonAsker, ListFault } from "./ask-json.ts"

export interface ProbedProvider {
  readonly provider: string
  /** `no list`: it was reached, and has nothing that it tells for nothing. `unasked`: nothing of the kind is known of it. */
  readonly outcome: "answers" | "no list" | "failed" | "unasked"
  /** What is in the way where it failed, in our words. */
  readonly problem?: string
}

/** Whether a provider is reached and takes its key. */
export async function probe(
  { url, headers }: ProviderProbe,
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<Omit<ProbedProvider, "provider">> {
  const listing = { shape: "chat", base: url, query: "", headers, tellsPrices: false } as const
  try {
    await new JsonAsker({ listing, fetch }, signal).ask(url)
    return { outcome: "answers" }
  } catch (error) {
    if (!(error instanceof ListFault)) throw error
    // Gateways in front of a provider often pass on what models are asked, and nothing else.
    if (error.status === 404 || error.status === 405) return { outcome: "no list" }
    return { outcome: "failed", problem: error.message }
  }
}
