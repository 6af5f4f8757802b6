import { latePart } from "../shared/concurrency/late-part.ts"
import type { ExportLine } from "../protocol/account/export.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Erasure } from "./erasure.ts"
import type { ExportSource } from "./export.ts"
import type { PlacedFiles } from "./files/placed-files.ts"

/** What leaves the database: taken along, or erased. */
export interface StoreRetention {
  eraseConversation(user: UserId, id: ConversationId): Promise<boolean>
  erasePerson(user: UserId): Promise<boolean>
  conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]>
  exportOf(user: UserId): AsyncIterable<ExportLine>
  /** To be called now and then: erases what was under way while its person was erased. Returns who was, this last day. */
  sweep(): Promise<UserId[]>
}

interface Sources extends ExportSource {
  readonly placedFiles: PlacedFiles
  readonly now: () => number
}

/** Nobody leaves in a first turn. */
const loadErasure = latePart(() => import("./erasure.ts"))
const loadExport = latePart(() => import("./export.ts"))

export function openRetention(source: Sources): StoreRetention {
  const { engine, placedFiles, now } = source
  let made: Erasure | undefined
  const erasure = async () => {
    const file = await loadErasure()
    return (made ??= new file.Erasure(engine, placedFiles, now)) // one for all: it remembers whom it has scrubbed
  }
  return {
    eraseConversation: async (user, id) => (await erasure()).conversation(user, id),
    erasePerson: async (user) => (await erasure()).person(user),
    conversationsOf: async (user) => (await erasure()).conversationsOf(user),
    async *exportOf(user) {
      yield* (await loadExport()).exportOf(source, user)
    },
    sweep: async () => (await erasure()).sweep(),
  }
}
