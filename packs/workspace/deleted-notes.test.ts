import { describe, expect, test } from "vitest"
import { type CallOutcome, type DeviceCall, newId, type Note } from "../../core/pack.ts"
import { workspaceAgent } from "./agent.ts"
import { DeviceWorkspace } from "./device/device-workspace.ts"
import { findableNotes } from "./findable-notes.ts"
import { contextAt } from "../../test/workspace/in-memory-workspace.ts"
import { searchNotes } from "./search-notes.ts"

const embedder = {
  name: "test",
  dimensions: 1,
  embed: async (texts: readonly string[]) => texts.map(() => new Float32Array([1])),
}

/** A device that forgets no vector by itself: what is in its index need not be among its notes. */
class Forgetful {
  readonly notes = new Map<string, Note>()
  readonly index: string[] = []
  readonly calls: (DeviceCall & { effect: string })[] = []
  knowsHow = true

  add(id: string, more: Partial<Note> = {}): void {
    const note = { id, projectId: null, title: `Note ${id}`, content: "about it", createdAt: 1, updatedAt: 1, ...more }
    this.notes.set(id, note)
    this.index.push(id)
  }

  deal({ action, data, limit = 10 }: DeviceCall): CallOutcome {
    const id = String(data?.id)
    switch (action) {
      case "get":
        return { row: this.notes.get(id) ?? null }
      case "select":
        return { rows: [] }
      case "delete": {
        const row = this.notes.get(id)
        return this.notes.delete(id) && row ? { deleted: true, row } : { deleted: false }
      }
      case "restore": {
        const { rows } = data as { rows: Note[] }
        for (const row of rows) this.notes.set(row.id, row)
        return { rows }
      }
      case "vector_search":
        return { results: this.index.slice(0, limit).map((id, n) => ({ id, content: "", score: 1 - n / 10_000 })) }
      case "vector_delete":
        if (!this.knowsHow) throw new Error("A device that does not know vector_delete must not be asked for it.")
        if (this.index.includes(id)) this.index.splice(this.index.indexOf(id), 1)
        return { ok: true }
      case "vector_upsert":
        this.index.push(id)
        return { ok: true }
      default:
        throw new Error(`There is no action ${action}.`)
    }
  }

  sent = (action: string) => this.calls.filter((call) => call.action === action)

  open(callId = newId("call")) {
    const context = contextAt({ site: "device", deviceId: "laptop", callId })
    const open = findableNotes(
      () =>
        new DeviceWorkspace(
          {
            call: async (_place, call, { effect }) => {
              this.calls.push({ ...call, effect })
              return this.deal(call)
            },
            outcome: async () => ({ deleted: true, row: { ...noteOf("n1") }, with: {} }),
            isReachable: () => true,
            knows: (_place, what) => this.knowsHow && what === "vector_delete",
          },
          context,
        ),
      embedder,
    )
    const { tools } = workspaceAgent(open, { note: [searchNotes(open, embedder)] })
    const use = async (name: string, input: object) => tools.find(name)!.run(input, context)
    return { use, workspace: open(context), context }
  }
}

const noteOf = (id: string): Note => ({
  ...{ id, projectId: null, title: `Note ${id}`, content: "about it", createdAt: 1, updatedAt: 1 },
})

describe("the vector of a note goes when the note goes", () => {
  test("with its deletion, which is also what undoes its creation, under an id of its own", async () => {
    const device = new Forgetful()
    device.add("n1")
    const call = newId("call")
    expect((await device.open(call).use("delete_note", { note_id: "n1" })).text).toMatch(/^Note deleted: [^.]*\.$/)
    const [forgotten] = device.sent("vector_delete")
    expect(forgotten).toMatchObject({ effect: "write", table: "notes", data: { id: "n1" } })
    expect(forgotten?.callId).not.toBe(call)
    expect(device.index).toEqual([])
  })

  test("with the project that takes it along", async () => {
    const device = new Forgetful()
    for (const id of ["n1", "n2", "n3"]) device.add(id)
    const { workspace } = device.open()
    device.deal = ((deal) => (call: DeviceCall) => {
      const row = { id: "p1", clientId: null, name: "House", status: "active", aiSummary: null, createdAt: 1 }
      if (call.action === "get") return { row }
      return call.action === "delete"
        ? { deleted: true, row, with: { notes: [noteOf("n1"), noteOf("n3")] } }
        : deal(call)
    })(device.deal.bind(device))
    await workspace.write({ action: "delete", table: "projects", id: "p1" }, newId("call"))
    expect(device.index).toEqual(["n2"])
  })

  test("also after a crash between the two, and with the same id as before it", async () => {
    const device = new Forgetful()
    const call = newId("call")
    for (let life = 0; life < 2; life++)
      await device.open(call).workspace.outcome(call, { action: "delete", table: "notes" })
    const ids = device.sent("vector_delete").map(({ callId }) => callId)
    expect([ids.length, new Set(ids).size]).toEqual([2, 1])
  })

  test("and comes back with it", async () => {
    const device = new Forgetful()
    device.add("n1")
    await device.open().use("delete_note", { note_id: "n1" })
    await device.open().use("restore_note", { note: noteOf("n1") })
    expect(device.index).toEqual(["n1"])
  })

  test("a device that cannot let go of vectors has deleted the note all the same", async () => {
    const device = new Forgetful()
    device.add("n1")
    device.knowsHow = false
    expect((await device.open().use("delete_note", { note_id: "n1" })).text).toMatch(/^Note deleted: [^.]*\.$/)
    expect(device.sent("vector_delete")).toEqual([])
  })
})

describe("a search among vectors of notes that are gone", () => {
  const found = ({ data }: { data?: unknown }) => (data as { notes: { id: string }[] }).notes.map(({ id }) => id)

  test.each([3, 40, 250])("fills its places with living ones behind %i dead, and lets go of these", async (dead) => {
    const device = new Forgetful()
    for (let n = 0; n < dead; n++) device.index.push(`dead${n}`)
    for (let n = 0; n < 10; n++) device.add(`n${n}`)
    expect(found(await device.open().use("search_notes", { query: "it", limit: 5 }))).toEqual([
      "n0",
      "n1",
      "n2",
      "n3",
      "n4",
    ])
    expect(device.index.filter((id) => id.startsWith("dead"))).toEqual([])
    const before = device.sent("vector_search").length
    await device.open().use("search_notes", { query: "it", limit: 5 })
    expect(device.sent("vector_search").length - before).toBe(1)
  })

  test("fills them also where the device cannot let go of any", async () => {
    const device = new Forgetful()
    device.knowsHow = false
    for (let n = 0; n < 50; n++) device.index.push(`dead${n}`)
    for (let n = 0; n < 10; n++) device.add(`n${n}`)
    expect(found(await device.open().use("search_notes", { query: "it" }))).toHaveLength(5)
  })

  test("ends where all are dead and come back for ever", async () => {
    const device = new Forgetful()
    device.deal = (
      (deal) => (call: DeviceCall) =>
        call.action === "vector_delete" ? { ok: true } : deal(call)
    )(device.deal.bind(device))
    for (let n = 0; n < 500; n++) device.index.push(`dead${n}`)
    const answer = await device.open().use("search_notes", { query: "it" })
    expect(answer.text).toBe('No notes found about "it".')
    expect(device.sent("vector_search").length).toBeLessThanOrEqual(6)
  })

  test("names a note that cannot be read, and shows the others", async () => {
    const device = new Forgetful()
    device.add("n1")
    device.add("n2", { title: 5 as never })
    const { text } = await device.open().use("search_notes", { query: "it" })
    expect(text).toMatch(/^Found 1 note\(s\):\n- Note n1 /)
    expect(text).toContain('(id: "n2")')
    expect(device.sent("vector_delete")).toEqual([])
  })
})
