import { expect, test } from "vitest"
import type { Note } from "../core/protocol/workspace-tables.ts"
import {
  withTableRequested,
  emptyWorkspace,
  reduceWorkspace,
  withEdit,
  withRows,
  type WorkspaceView,
} from "./reduce-workspace.ts"

const note = (id: string, title = id): Note => ({
  ...{ id, title, projectId: null, content: "", createdAt: 1, updatedAt: 1 },
})
const told = (rows?: Note[], deleted?: string[]) => ({
  ...{ id: "1", type: "workspace" },
  data: { table: "notes", ...(rows ? { rows } : {}), ...(deleted ? { deleted } : {}) },
})
const snapshot = { id: "2", type: "snapshot", data: { conversations: [], proposals: [] } }
const read = (...rows: Note[]) => withRows(withTableRequested(emptyWorkspace, "notes"), "notes", rows)
const titles = ({ notes }: WorkspaceView) => notes.rows.map(({ title }) => title)

test("rows are replaced, added and removed by the feed", () => {
  let view = reduceWorkspace(read(note("a"), note("b")), told([note("a", "changed"), note("c")], ["b"]))
  expect(titles(view)).toEqual(["changed", "c"])
  view = reduceWorkspace(view, { id: "3", type: "workspace", data: { table: "unheard-of", rows: [] } })
  expect(titles(view)).toEqual(["changed", "c"])
})

test("an answer in transit does not overwrite newer rows of the feed", () => {
  let view = withTableRequested(emptyWorkspace, "notes")
  view = reduceWorkspace(view, told([note("a", "newer")], ["b"]))
  view = withRows(view, "notes", [note("a", "older"), note("b"), note("c")])
  expect(titles(view)).toEqual(["newer", "c"])
  // The next response was requested later, so it counts.
  expect(titles(withRows(withTableRequested(view, "notes"), "notes", [note("a", "newest")]))).toEqual(["newest"])
})

test("after an absence or too many changes a table is read again, also if the feed says so during the read", () => {
  expect(read(note("a")).notes.isCurrent).toBe(true)
  expect(reduceWorkspace(read(note("a")), snapshot).notes).toMatchObject({ isCurrent: false, isKnown: true })
  const during = withRows(reduceWorkspace(withTableRequested(emptyWorkspace, "notes"), told()), "notes", [note("a")])
  expect(during.notes).toMatchObject({ isCurrent: false, isKnown: true })
})

test("the answer to an edit is valid only until the feed sends that row", () => {
  const view = read(note("a"))
  const was = view.notes.rows[0]
  const row = note("a", "mine")
  expect(titles(withEdit(view, { table: "notes", was, row }))).toEqual(["mine"])
  const after = reduceWorkspace(view, told([note("a", "theirs, after mine")]))
  expect(titles(withEdit(after, { table: "notes", was, row }))).toEqual(["theirs, after mine"])
  // A new row that was deleted in the meantime does not reappear.
  expect(titles(withEdit(view, { table: "notes", was: undefined, row: note("b") }))).toEqual(["a", "b"])
  const gone = reduceWorkspace(view, told([], ["b"]))
  expect(titles(withEdit(gone, { table: "notes", was: undefined, row: note("b") }))).toEqual(["a"])
})
