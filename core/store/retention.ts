import { lazyModule } from "../shared/concurrency/lazy-module.ts"
import type { ExportLine } from "../protocol/account/export.ts"
import type { ConversationId, UserId } from "../protocol/ids.ts"
import type { Erasure } from "./erasure.ts"
import type { ExportSource } from "./export.ts"
import type { FolderFiles } from "./files/folder-files.ts"

/** Exports and erases data. */
export interface StoreRetention {
  eraseConversation(user: UserId, id: ConversationId): Promise<boolean>
  erasePerson(user: UserId): Promise<boolean>
  conversationsOf(user: UserId): Promise<{ id: ConversationId; atWork: boolean }[]>
  exportOf(user: UserId): AsyncIterable<ExportLine>
  /**
   * To be called now and then: erases what was in progress when its person was erased. Returns the people of the last
   * day.
   */
  sweep(): Promise<UserId[]>
}

interface Sources extends ExportSource {
  readonly folderFiles: FolderFiles
  readonly now: () => number
}

/** Loaded on first use, because the first turn never needs it. */
const loadErasure = lazyModule(() => import("./erasure.ts"))
const loadExport = lazyModule(() => import("./export.ts"))

export function openRetention(source: Sources): StoreRetention {
  const { engine, folderFiles, now } = source
  let erasureInstance: Erasure | undefined
  const erasure = async () => {
    const file = await loadErasure()
    return (erasureInstance ??= new file.Erasure(engine, folderFiles, now)) // one instance, because it remembers what was scrubbed
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
