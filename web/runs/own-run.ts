import type { Run } from "../../src/protocol/index.ts"
import { client } from "../state/client.ts"
import type { RunSource } from "./followed-run.ts"

/** A run of the person's own: its rows are asked for, and the stream of its conversation tells when there are more. */
export const ownRun = (id: string): RunSource<Run> => ({
  async read(after) {
    // The run before the rows: one that is said to be over has all of them.
    const run = await client.readRun({ params: { id } })
    return { run, ...(await client.readRunJournal({ params: { id }, query: { after } })) }
  },
  async follow({ conversationId }, after, changed, signal) {
    for await (const { type } of client.events(conversationId, { after: String(after), signal })) {
      // Text that is being written is in no row yet.
      if (!type.endsWith("_delta")) changed()
    }
  },
})
