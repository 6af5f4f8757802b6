import { ClientError } from "../../client/index.ts"
import { EvalFileFault } from "../file/read-eval-file.ts"
import type { CaseRun } from "./case-run.ts"
import type { OpenPlace } from "./place.ts"

type Asked = Pick<CaseRun, "agent" | "model" | "isScripted">

/**
 * Refuses agents and models that are not there, before anything is asked: a name that is misspelt would otherwise fail every case,
 * behind those that were paid for, and pass for a fall.
 */
export async function refuseUnknown(cells: readonly Asked[], open: OpenPlace): Promise<void> {
  const asked = cells.filter(({ isScripted }) => !isScripted)
  if (asked.length === 0) return
  await using place = await open({
    hasFolder: asked.some(({ agent }) => agent === "files"),
    script: undefined,
    verdicts: [],
  })
  const seen = new Set<string>()
  for (const { agent, model } of asked) {
    const pair = JSON.stringify([agent, model])
    if (seen.has(pair)) continue
    seen.add(pair)
    try {
      await place.client.createConversation({ body: { ...(agent ? { agent } : {}), ...(model ? { model } : {}) } })
    } catch (error) {
      if (error instanceof ClientError && error.status === 400) throw new EvalFileFault(error.message)
      throw error
    }
  }
}
