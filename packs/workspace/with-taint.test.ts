import { expect, test } from "vitest"
import {
  type Applied,
  type CallId,
  failure,
  newId,
  type RemoteWorkspace,
  type TaintedRows,
  type UserId,
  type WorkspaceCall,
} from "../../core/pack.ts"
import { withTaint } from "./with-taint.ts"

const NOTE = { id: "note_1", projectId: null, title: "Trip", content: "", createdAt: 1, updatedAt: 1 }
const ADDED: Applied = { action: "insert", table: "notes", before: null, after: NOTE, with: {} }
const INSERT = { action: "insert", table: "notes", data: { title: "Trip" } } as const
const CALL = "call_1" as CallId

class Marks implements TaintedRows {
  readonly ids = new Set<string>()
  find = async (_user: UserId, _place: string, ids: readonly string[]) =>
    [...this.ids].filter((id) => ids.includes(id) || id.startsWith("call:"))
  add = async (_user: UserId, _place: string, ids: readonly string[]) => ids.forEach((id) => this.ids.add(id))
  remove = async (_user: UserId, _place: string, ids: readonly string[]) => ids.forEach((id) => this.ids.delete(id))
}

/** A device with one note, which a tainted run writes to, and another run reads. */
function open(write: () => Promise<Applied>, outcome: () => Promise<Applied | undefined>) {
  const marks = new Marks()
  const device = { deleteVector() {}, write, outcome, get: async () => NOTE } as unknown as RemoteWorkspace
  const common = {
    user: newId("user"),
    conversation: newId("conv"),
    callId: CALL,
    signal: new AbortController().signal,
  }
  const asked = { ...common, site: "device", deviceId: "laptop" } as const
  const opened = (more: Partial<WorkspaceCall>) => withTaint(() => device, marks)({ ...asked, ...more })
  return {
    marks,
    writing: opened({ taint: "untrusted" }),
    async isTainted() {
      let isTainted = false
      await opened({ noteTaint: () => (isTainted = true) }).get("notes", NOTE.id)
      return isTainted
    },
  }
}

test("a row that a device adds is marked by its id, and by its call until that is known", async () => {
  const seen: string[][] = []
  const world = open(
    async () => (seen.push([...world.marks.ids]), ADDED),
    async () => ADDED,
  )
  await world.writing.write(INSERT, CALL)
  expect([seen, [...world.marks.ids]]).toEqual([[["call:call_1"]], ["note_1"]])
  expect(await world.isTainted()).toBe(true)
})

test("while the outcome is unknown every row of the device counts as marked, and no longer once it is known", async () => {
  let done: Applied | undefined
  const world = open(
    () => Promise.reject(failure("outcome_unknown", { problem: "The device left." })),
    async () => done,
  )
  await expect(world.writing.write(INSERT, CALL)).rejects.toThrow("The device left.")
  expect(await world.isTainted()).toBe(true)
  done = { ...ADDED, after: { ...NOTE, id: "note_2" } }
  await world.writing.outcome(CALL, INSERT)
  expect([[...world.marks.ids], await world.isTainted()]).toEqual([["note_2"], false])
})

test("a write that the device refuses leaves no mark", async () => {
  const world = open(
    () => Promise.reject(new Error("no room")),
    async () => undefined,
  )
  await expect(world.writing.write(INSERT, CALL)).rejects.toThrow("no room")
  expect([...world.marks.ids]).toEqual([])
})
