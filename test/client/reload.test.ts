import { describe, expect, test } from "vitest"
import { emptyTranscript, fromDetail, type Item, reduce, withOlderMessages } from "../../client/index.ts"
import { parseCursor } from "../../core/protocol/cursor.ts"
import type { Proposal } from "../../core/protocol/proposals/proposal.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { databases } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { aborted, Held, write } from "../support/loop/tools.ts"
import { Face, type FaceOptions, type Visitor } from "../support/server/face.ts"
import { readFrames } from "../support/server/stream.ts"

// After a reload an edited change was shown as the version that was not applied.

const create = (title: string) => ["create_task", { title }] as const
const DAYS = 24 * 60 * 60_000

/** Returns the view of a client that watched from the start, and of one that opens the conversation now. */
async function bothViews(ada: Visitor, id: string) {
  const detail = (await ada.get(`/api/conversations/${id}`)).body
  const isThere = (frame: { id: string }) => (parseCursor(frame.id)?.position ?? 0) >= detail.position
  const frames = await readFrames(await ada.watch(id), (seen) => seen.some(isThere))
  const live = frames.reduce(reduce, emptyTranscript)
  return { live: live.items, reloaded: fromDetail(detail).items, status: [live.status, detail.status] }
}

const shown = (items: readonly Item[]) =>
  items.flatMap((item) =>
    item.type === "proposal" ? [[item.proposal.arguments.title, item.proposal.status, item.proposal.code]] : [],
  )

describe.each(databases)("a conversation that is reopened on $name", ({ create: createDatabase }) => {
  async function open(options: Omit<FaceOptions, "url">) {
    const clock = new TurnedClock(Date.now())
    const { url } = await createDatabase()
    const face = await Face.open({ url, clock, ...options })
    const ada = await face.as("ada")
    const propose = async (id: string, text: string) => (await ada.say(id, text)).body.proposals as Proposal[]
    const commit = (id: string) => ada.post(`/api/agent/proposals/${id}/commit`, {})
    const reject = (id: string, reason: string) => ada.post(`/api/agent/proposals/${id}/reject`, { reason })
    const edit = async (id: string, to: object) =>
      (await ada.post(`/api/agent/proposals/${id}/edit`, { arguments: to })).body as Proposal
    const close = () => face[Symbol.asyncDispose]()
    return { ada, clock, face, propose, commit, reject, edit, [Symbol.asyncDispose]: close }
  }

  test(
    "shows each change as it was edited, applied, rejected, superseded and expired",
    { timeout: 120_000 },
    async () => {
      const script = [
        calls(create("Milk"), create("Bread"), create("Eggs")),
        says("Three were decided."),
        calls(create("Wine")),
        says("Never mind then."),
        calls(create("Beer")),
        says("Too late."),
        calls(create("Juice")),
        says("By itself."),
      ]
      await using world = await open({ model: scripted(...script, always(says("Fine."))) })
      const { ada, clock, propose, commit, reject, edit } = world
      const id = await ada.begin()

      const [milk, bread, eggs] = await propose(id, "three")
      const edited = await edit(milk!.id, { title: "Oat milk", priority: "high" })
      const { live: before, reloaded: after } = await bothViews(ada, id)
      expect(after).toEqual(before)
      await commit(edited.id)
      await reject(bread!.id, "We have bread.")
      await commit(eggs!.id)
      await world.face.pawl.runtime.rest(id as never)
      const decided = await bothViews(ada, id)
      expect(shown(decided.live)).toEqual([
        ["Milk", "superseded", undefined],
        ["Bread", "rejected", undefined],
        ["Eggs", "applied", undefined],
        ["Oat milk", "applied", undefined],
      ])
      expect(decided.reloaded).toEqual(decided.live)

      await propose(id, "wine")
      await ada.say(id, "no wine")
      await propose(id, "beer")
      await clock.advance(30 * DAYS)
      await ada.say(id, "and now?")
      await ada.patch(`/api/conversations/${id}`, { mode: "auto" })
      await ada.say(id, "juice")
      const { live, reloaded, status } = await bothViews(ada, id)
      expect(shown(live).slice(4)).toEqual([
        ["Wine", "superseded", undefined],
        ["Beer", "expired", undefined],
        ["Juice", "applied", undefined],
      ])
      expect(reloaded).toEqual(live)
      expect(status).toEqual(["active", "active"])
    },
  )

  test("shows a change whose target had changed as skipped, not as failed", async () => {
    const change = (priority: string) => ["update_task", { task_id: "Milk", priority }] as const
    await using world = await open({
      model: scripted(calls(create("Milk")), says("There."), calls(change("high")), says("It had changed.")),
    })
    const { ada, propose, commit } = world
    const id = await ada.begin()
    await commit((await propose(id, "milk"))[0]!.id)
    await world.face.pawl.runtime.rest(id as never)
    const [update] = await propose(id, "high")
    const [task] = (await ada.get("/api/workspace/tasks")).body.items
    await ada.patch(`/api/workspace/tasks/${task.id}`, { updates: { priority: "low" } })
    expect((await commit(update!.id)).body.code).toBe("proposal_stale")
    await world.face.pawl.runtime.rest(id as never)
    const { live, reloaded } = await bothViews(ada, id)
    expect(shown(live).at(-1)).toEqual([undefined, "failed", "proposal_stale"])
    expect(reloaded).toEqual(live)
  })

  test("shows changes approved by a grant, and changes in doubt with their outcome", async () => {
    const held = new Held()
    await using world = await open({
      model: scripted(
        calls("note", { q: "a" }),
        calls("note", { q: "b" }),
        says("Both."),
        calls("pay", { q: "1" }),
        always(says("Ok.")),
      ),
      tools: [write("note"), write("pay", held.run)],
    })
    const { ada, propose, commit, face } = world
    const id = await ada.begin({ agent: "test" })
    const [first] = await propose(id, "two")
    await ada.post(`/api/agent/proposals/${first!.id}/commit`, { always: true })
    await face.pawl.runtime.rest(id as never)
    const granted = await bothViews(ada, id)
    expect(granted.live.flatMap((item) => (item.type === "proposal" ? [item.decidedBy] : []))).toEqual([
      expect.stringMatching(/^user_/),
      "grant",
    ])
    expect(granted.reloaded).toEqual(granted.live)

    const [pay] = await propose(id, "pay")
    const paid = commit(pay!.id)
    const signal = await held.begun
    const cancelled = ada.post(`/api/conversations/${id}/cancel`)
    await aborted(signal)
    await world.clock.turn(2000)
    await cancelled
    await paid
    held.end("Paid after all.")
    await face.pawl.runtime.rest(id as never)
    const settled = async () => {
      const { live, reloaded } = await bothViews(ada, id)
      return { live, reloaded, status: shown(live).at(-1)?.[1] }
    }
    await expect.poll(async () => (await settled()).status).toBe("applied")
    const { live, reloaded } = await settled()
    expect(live.some((item) => item.type === "call" && item.delayedResult !== null)).toBe(true)
    expect(reloaded).toEqual(live)
  })

  test("shows the same on an older page of messages", { timeout: 120_000 }, async () => {
    await using world = await open({ model: scripted(calls(create("Milk")), always(says("Fine."))) })
    const { ada, propose, commit, edit } = world
    const id = await ada.begin()
    const [milk] = await propose(id, "milk")
    await commit((await edit(milk!.id, { title: "Oat milk" })).id)
    await world.face.pawl.runtime.rest(id as never)
    for (let turn = 0; turn < 26; turn++) await ada.say(id, `turn ${turn}`)
    const detail = (await ada.get(`/api/conversations/${id}`)).body
    expect(detail.messages).toHaveLength(50)
    const newest = fromDetail(detail)
    const before = detail.messages[0].seq
    const older = (await ada.get(`/api/conversations/${id}/messages?before=${before}`)).body
    const { live } = await bothViews(ada, id)
    expect(withOlderMessages(newest, older).items).toEqual(live)
  })
})
