import type { Client } from "../../client/index.ts"
import { EXIT } from "./exec-ending.ts"
import type { Printer } from "./exec-printer.ts"

type Proposals = Awaited<ReturnType<Client["readConversation"]>>["proposals"]

/** After one of these a conversation may stand otherwise than before. */
const TURNS: ReadonlySet<string> = new Set(["in_doubt", "awaiting_confirmation", "run_ended", "done", "error"])

/**
 * What of a conversation is in doubt. Words that are said to it wait until a person has settled that, and whoever waits for
 * their answer would wait for ever. A run that was broken off is picked up first: what becomes of it shows then.
 */
export async function findInDoubt(client: Client, id: string): Promise<Proposals> {
  for (;;) {
    const { status, proposals, position } = await client.readConversation({ params: { id } })
    const found = proposals.filter((proposal) => proposal.status === "in_doubt")
    if (found.length > 0 || status !== "running") return found
    for await (const { type } of client.events(id, { after: String(position) })) if (TURNS.has(type)) break
  }
}

/** Nothing is said to the conversation: whoever has settled the doubt says it again. */
export function tellDoubt(doubted: Proposals, printer: Printer): number {
  for (const proposal of doubted) printer.ask(proposal, true)
  printer.end("paused")
  process.stderr.write("pawl: your request was not sent; send it again when that is settled.\n")
  return EXIT.needsConfirmation
}
