import {
  type Applied,
  type CallId,
  hasCode,
  isRemote,
  type OpenWorkspace,
  pendingMark,
  type RemoteWorkspace,
  type RowsByTable,
  type TaintedRows,
  type Workspace,
  type WorkspaceCall,
  type WorkspaceWrite,
  writtenIds,
} from "../../core/pack.ts"

/**
 * A workspace that stores with each row the taint of the run that wrote it. All reads go through it, so a tool cannot
 * forget the check: a tainted row makes the result untrusted.
 */
export function withTaint(open: OpenWorkspace, tainted: TaintedRows): OpenWorkspace {
  return (asked) => {
    const workspace = open(asked)
    const place = asked.site === "device" ? `device ${asked.deviceId ?? ""}` : ""
    const marks = { tainted, asked, place }
    const note = async (ids: readonly string[]) => {
      if (ids.length > 0 && (await tainted.find(asked.user, place, ids)).length > 0) asked.noteTaint?.("untrusted")
    }
    const noted = async <Value>(reading: Promise<Value>, idsOf: (value: Value) => readonly string[]) => {
      const value = await reading
      await note(idsOf(value))
      return value
    }
    const common: Workspace = {
      select: (table, filters) => noted(workspace.select(table, filters), idsIn),
      list: (table, filters, options) =>
        noted(workspace.list(table, filters, options), ({ rows, odd }) =>
          [...rows, ...odd].map(({ id }) => String(id)),
        ),
      get: (table, id) => noted(workspace.get(table, id), (row) => (row ? [row.id] : [])),
      hanging: (table, id) => noted(workspace.hanging(table, id), idsByTable),
      write(write, callId) {
        const writing = isRemote(workspace)
          ? writeToDevice(workspace, { write, callId }, marks)
          : workspace.write(write, callId, asked.taint && "untrusted")
        return noted(writing, idsOfApplied)
      },
      async outcome(callId, of) {
        const applied = await workspace.outcome(callId, of)
        if (isRemote(workspace)) await settle(marks, callId, applied)
        await note(applied ? idsOfApplied(applied) : [])
        return applied
      },
      upsertVector: (vector, of) => workspace.upsertVector(vector, of),
      nearest: (vector, options) => noted(workspace.nearest(vector, options), idsIn),
    }
    const { bar, indexing } = workspace
    if (!isRemote(workspace))
      return {
        ...common,
        ...(bar
          ? { bar: (callId) => noted(bar.call(workspace, callId), (applied) => (applied ? idsOfApplied(applied) : [])) }
          : {}),
        ...(indexing ? { indexing: () => indexing.call(workspace) } : {}),
      }
    const distant: RemoteWorkspace = {
      ...common,
      getWhole: (table, id) =>
        noted(workspace.getWhole(table, id), (found) =>
          found ? [...(found.row ? [found.row.id] : []), ...idsByTable(found.hanging)] : [],
        ),
      deleteVector: (id) => workspace.deleteVector(id),
      hasSearch: () => workspace.hasSearch(),
    }
    return distant
  }
}

const idsIn = (rows: readonly { readonly id: string }[]) => rows.map(({ id }) => id)
const idsByTable = (rows: RowsByTable) => Object.values(rows).flatMap((some) => idsIn(some ?? []))
const idsOfApplied = ({ before, after, with: others }: Applied) => [
  ...[before, after].flatMap((row) => (row ? [row.id] : [])),
  ...idsByTable(others),
]

interface Marks {
  readonly tainted: TaintedRows
  readonly asked: WorkspaceCall
  readonly place: string
}

/**
 * Stores the mark before the write, so that a crash between the two does not lose it. The device generates the id of a
 * new row: until it is known, the call is marked, and `find` treats every row of the device as marked.
 */
async function writeToDevice(
  workspace: RemoteWorkspace,
  { write, callId }: { readonly write: WorkspaceWrite; readonly callId: CallId },
  marks: Marks,
): Promise<Applied> {
  const { tainted, asked, place } = marks
  if (!asked.taint || write.action === "delete" || write.action === "restore") return workspace.write(write, callId)
  await tainted.add(asked.user, place, [write.action === "update" ? write.id : pendingMark(callId)])
  try {
    const applied = await workspace.write(write, callId)
    await settle(marks, callId, applied)
    return applied
  } catch (error) {
    if (!hasCode(error, "outcome_unknown")) await settle(marks, callId, undefined)
    throw error
  }
}

/** Moves the mark from the call to its rows, once the outcome is known. */
async function settle({ tainted, asked, place }: Marks, callId: CallId, applied: Applied | undefined): Promise<void> {
  if (!asked.taint) return
  if (applied) await tainted.add(asked.user, place, writtenIds(applied))
  await tainted.remove(asked.user, place, [pendingMark(callId)])
}
