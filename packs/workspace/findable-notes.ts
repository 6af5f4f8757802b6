import {
  type Applied,
  type Embedder,
  deletedNotes,
  inPortions,
  isRemote,
  type Note,
  type OpenWorkspace,
  type RemoteWorkspace,
  textOfNote,
  type Workspace,
  type WorkspaceCall,
} from "../../core/pack.ts"
import { inOneLine } from "./describe-row.ts"
import { VectorRefused } from "./device/device-workspace.ts"

/** How long the answer about a note may wait for its vector. */
const PATIENCE_MS = 10_000
/** Vectors deleted at a time. */
const AT_ONCE = 16
/** The most characters of a device's error that are shown. */
const MAX_REFUSAL = 200
const LATER = "Finding it by meaning will follow."

/**
 * Makes notes on a device searchable by meaning: the device has no embedder, so the server sends it the vectors. (The
 * server's own workspace indexes itself.) The note matters more than its vector: an error is reported in the answer and
 * reverts nothing. After a crash in between, `outcome` sends the vector.
 */
export function findableNotes(open: OpenWorkspace, embedder: Embedder): OpenWorkspace {
  return (asked) => {
    const workspace = open(asked)
    if (!isRemote(workspace)) return workspace
    const followed = async (applied: Applied): Promise<Applied> => {
      // A failure is repaired by the next search that finds the note.
      await forgetNotes(workspace, deletedNotes(applied))
      const notes = notesToEmbed(applied)
      if (notes.length === 0) return applied
      const done = await inTime(embedAll(notes, { workspace, embedder, asked }))
      return done === true ? applied : { ...applied, remark: done instanceof VectorRefused ? refused(done) : LATER }
    }
    const findable: RemoteWorkspace = {
      list: (table, filters, options) => workspace.list(table, filters, options),
      getWhole: (table, id) => workspace.getWhole(table, id),
      deleteVector: (id) => workspace.deleteVector(id),
      hasSearch: () => workspace.hasSearch(),
      select: (table, filters) => workspace.select(table, filters),
      get: (table, id) => workspace.get(table, id),
      hanging: (table, id) => workspace.hanging(table, id),
      write: async (write, callId) => followed(await workspace.write(write, callId)),
      async outcome(callId, of) {
        const applied = await workspace.outcome(callId, of)
        return applied && followed(applied)
      },
      upsertVector: (note, vector) => workspace.upsertVector(note, vector),
      nearest: (vector, options) => workspace.nearest(vector, options),
    }
    return findable
  }
}

/** Removes the vectors of deleted notes on a device; returns the ids that it removed. */
export async function forgetNotes(workspace: RemoteWorkspace, ids: readonly string[]): Promise<string[]> {
  const forgotten: string[] = []
  const all = async () => {
    for (const some of inPortions(ids, AT_ONCE)) {
      const ended = await Promise.allSettled(some.map((id) => workspace.deleteVector(id)))
      forgotten.push(...some.filter((_, i) => ended[i]?.status === "fulfilled"))
      if (forgotten.length === 0) return // the device does not support it: one request is enough
    }
  }
  if (ids.length > 0) await inTime(all())
  return [...forgotten]
}

/** The notes of a write that still exist and have new text. */
export function notesToEmbed({ action, table, before, after, with: others }: Applied): Note[] {
  if (action === "delete") return []
  const own = table === "notes" && after ? [after as Note] : []
  const was = before as Note | null
  const same = action === "update" && was?.title === own[0]?.title && was?.content === own[0]?.content
  return [...(same ? [] : own), ...(others.notes ?? [])]
}

async function embedAll(
  notes: readonly Note[],
  { workspace, embedder, asked }: { workspace: Workspace; embedder: Embedder; asked: WorkspaceCall },
): Promise<void> {
  const signal = AbortSignal.any([asked.signal, AbortSignal.timeout(PATIENCE_MS)])
  const vectors = await embedder.embed(notes.map(textOfNote), signal)
  for (const [i, { id, projectId, content }] of notes.entries()) {
    const vector = { embedder: embedder.name, numbers: [...vectors[i]!] }
    await workspace.upsertVector({ id, projectId, content }, vector)
  }
}

const refused = ({ message }: VectorRefused) =>
  `It cannot be found by meaning: the device refused its vector (${inOneLine(message, MAX_REFUSAL)}).`

/**
 * Resolves to true if it finished in time, otherwise to the reason. The answer about a note does not wait for a silent
 * device.
 */
async function inTime(work: Promise<void>): Promise<unknown> {
  const { promise: late, resolve } = Promise.withResolvers<false>()
  const timer = setTimeout(() => resolve(false), PATIENCE_MS)
  const done = work.then(
    () => true as const,
    (error: unknown) => error,
  )
  try {
    return await Promise.race([done, late])
  } finally {
    clearTimeout(timer)
  }
}
