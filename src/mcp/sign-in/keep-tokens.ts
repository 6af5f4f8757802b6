import { type Clock, sleep } from "../../agent/clock.ts"
import type { McpSignIns } from "../../protocol/ports/mcp-sign-ins.ts"

/** In milliseconds: longer than a database takes to be restarted, and shorter than a renewal is claimed for. */
const PAUSES_MS = [250, 1000, 3000]

/**
 * Stores tokens that were given out once, and that nobody else has. Where the store is away for a moment, it is tried again;
 * where only its answer was lost, they are there already, and what is there stays.
 */
export async function keepTokens(
  { signIns, clock }: { readonly signIns: Pick<McpSignIns, "put">; readonly clock: Clock },
  ...stored: Parameters<McpSignIns["put"]>
): Promise<void> {
  for (const pause of PAUSES_MS) {
    try {
      await signIns.put(...stored)
      return
    } catch {
      await sleep(clock, pause)
    }
  }
  await signIns.put(...stored)
}
