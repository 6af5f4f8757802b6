import { type Client, ClientError } from "../../client/index.ts"
import { addSpent, type EvalSpent, NOTHING_SPENT } from "../happened.ts"
import { recordRun } from "./record.ts"

/**
 * What all runs of a place have taken, judges included, for a case that could not be run to its end: what it has cost until then is
 * spent. Where that cannot be read, nobody knows.
 */
export async function spentIn(client: Client): Promise<EvalSpent> {
  try {
    let spent = NOTHING_SPENT
    const { items } = await client.listConversations({ query: { limit: 200 } })
    for (const { id } of items) {
      const { items: runs } = await client.listRuns({ params: { id } })
      for (const run of runs) spent = addSpent(spent, (await recordRun(client, run.id)).spent)
    }
    return spent
  } catch (error) {
    if (!(error instanceof ClientError)) throw error
    return { ...NOTHING_SPENT, costUsd: null }
  }
}
