import type { Client, UnknownFrame } from "../../client/index.ts"

/** The number of runs that have ended in these frames. */
export const endsIn = (frames: readonly UnknownFrame[]): number => frames.filter(({ type }) => type === "done").length

/** Reads the stored events of a conversation, to the end of so many runs. */
export async function readStored(client: Pick<Client, "events">, id: string, runs: number): Promise<UnknownFrame[]> {
  const stored: UnknownFrame[] = []
  for await (const frame of client.events(id)) {
    stored.push(frame)
    if (endsIn(stored) === runs) break
  }
  return stored
}
