import { rebuildRequests, type RebuiltRun } from "../../core/engine/rebuild/rebuild-requests.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import type { World } from "../support/loop/world.ts"

/** Rebuilds all requests of a conversation, of every run, with the agent and settings of this world. */
export async function rebuildAll(world: World, id: ConversationId): Promise<RebuiltRun> {
  const rows = { start: 1, upTo: Number.MAX_SAFE_INTEGER }
  const { user, pawl, store } = world
  return rebuildRequests(await store.journal.read(id), {
    ports: pawl.ports,
    id,
    user,
    rows,
    signal: AbortSignal.any([]),
  })
}
