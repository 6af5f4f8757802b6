import {
  isRemote,
  type MalformedRow,
  MIN_NOTE_SCORE,
  type Note,
  type NoteMatch,
  type Vector,
  type Workspace,
} from "../../core/pack.ts"
import { MalformedAnswer } from "./device/pages.ts"
import { forgetNotes } from "./findable-notes.ts"

/** The most notes that are requested from a device at once. */
const MAX_ASKED = 100
/** The most repeated requests if notes in the device's index no longer exist. */
const MAX_ROUNDS = 6

export interface SimilarNote {
  readonly note: Note
  readonly score: number
}

interface Wanted {
  readonly limit: number
  readonly projectId: string | null
}

/**
 * Returns the current notes nearest to a vector. A device's index may lag behind its table, so deleted notes are
 * skipped, more are requested, and their vectors are removed.
 */
export async function similarNotes(
  workspace: Workspace,
  vector: Vector,
  { limit, projectId }: Wanted,
): Promise<{ found: SimilarNote[]; odd: MalformedRow[] }> {
  const found: SimilarNote[] = []
  const odd: MalformedRow[] = []
  const seen = new Set<string>()
  const gone = new Set<string>()
  let asked = limit
  for (let round = 1; ; round++) {
    const options = { limit: asked, ...(projectId ? { projectId } : {}) }
    // An older device may refuse a large count. It has already answered a request for fewer.
    const matches: readonly NoteMatch[] = await workspace.nearest(vector, options).catch((error: unknown) => {
      if (round === 1) throw error
      return []
    })
    const near = matches.filter(({ score }) => score >= MIN_NOTE_SCORE)
    const candidates = once(near.filter(({ id }) => !seen.has(id)))
    while (found.length < limit && candidates.length > 0) {
      const some = candidates.splice(0, limit - found.length)
      const notes = await Promise.all(some.map(({ id }) => noteOf(workspace, id)))
      for (const [i, { id, score }] of some.entries()) {
        const note = notes[i]
        seen.add(id)
        if (note === undefined) gone.add(id)
        else if ("problem" in note) odd.push({ ...note, place: odd.length + 1 })
        else if (projectId === null || note.projectId === projectId) found.push({ note, score })
      }
    }
    const isAll = near.length < asked
    if (found.length >= limit || isAll || round === MAX_ROUNDS) break
    if (asked < MAX_ASKED) asked = Math.min(MAX_ASKED, asked * 4)
    else if ((await forget(workspace, gone)) === 0) break
  }
  await forget(workspace, gone)
  return { found, odd }
}

/** Removes duplicates, which a device may send. */
const once = (matches: readonly NoteMatch[]): NoteMatch[] => [
  ...new Map(matches.map((match) => [match.id, match])).values(),
]

async function noteOf(workspace: Workspace, id: string): Promise<Note | Omit<MalformedRow, "place"> | undefined> {
  try {
    return await workspace.get("notes", id)
  } catch (error) {
    if (!(error instanceof MalformedAnswer)) throw error
    return { id, name: null, problem: error.message }
  }
}

/** Removes the vectors of these notes on the device. Returns how many it removed. */
async function forget(workspace: Workspace, gone: Set<string>): Promise<number> {
  if (!isRemote(workspace)) return 0
  const ids = [...gone]
  gone.clear()
  return (await forgetNotes(workspace, ids)).length
}
