import { describe, expect, test } from "vitest"
import { answer, type CallContext } from "../../core/engine/definition/tool.ts"
import { replay } from "../../core/engine/replay/replay.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { of, openChecked } from "../support/loop/checked-world.ts"
import { anyDatabase } from "../support/databases.ts"
import { Face } from "../support/server/face.ts"
import { openServer } from "../support/server/socket.ts"
import { Held, read, write } from "../support/loop/tools.ts"
import { message, TurnedClock } from "../support/loop/world.ts"

/** 23:30 on a Friday in London: Saturday in Berlin, Friday noon in Honolulu. */
const LATE = Date.UTC(2027, 0, 8, 23, 30)
const [BERLIN, HONOLULU] = ["Europe/Berlin", "Pacific/Honolulu"]

describe.each(anyDatabase)("the person's time zone on $name", (database) => {
  const zones: string[] = []
  const note = (_input: unknown, { timeZone }: CallContext) => {
    zones.push(timeZone)
    return answer("noted")
  }
  const preview = (_input: unknown, { timeZone }: CallContext) => {
    zones.push(timeZone)
    return { summary: "Change it", action: "safe_create" as const }
  }
  const tools = [read("look", note), write("change", note, { preview })]
  const open = async (model: Parameters<typeof openChecked>[0]["model"], url: string, timeZone = "UTC") => {
    zones.length = 0
    return openChecked({ url, model, tools, timeZone, clock: new TurnedClock(LATE) })
  }

  test("is sent with a message, passed to every tool and stored until the next change", async () => {
    await using place = await database.create()
    const model = scripted(calls("look"), says("a"), calls("look"), says("b"), calls("look"), says("c"))
    await using world = await open(model, place.url)
    const id = await world.begin("one", { timeZone: BERLIN })
    await world.send(id, "two")
    await world.send(id, "three", { timeZone: HONOLULU })
    expect(zones).toEqual([BERLIN, BERLIN, HONOLULU])
    expect((await world.load(id)).timeZone).toBe(HONOLULU)
    expect(model.received.map(({ request }) => request.system)).toEqual([
      ...Array(4).fill(
        expect.stringContaining("Today is Saturday, 2027-01-09 for the person (time zone Europe/Berlin)"),
      ),
      ...Array(2).fill(
        expect.stringContaining("Today is Friday, 2027-01-08 for the person (time zone Pacific/Honolulu)"),
      ),
    ])
  })

  test("is the server's if the user has set none, and stays so for a run that another machine continues", async () => {
    await using place = await database.create()
    const script = [calls("change"), says("Done.")]
    {
      await using first = await open(scripted(...script), place.url, "Asia/Tokyo")
      await first.begin("change it")
      expect(zones).toEqual(["Asia/Tokyo"])
    }
    await using second = await open(scripted(says("Done.")), place.url, HONOLULU)
    const rows = await second.store.engine.query<{ id: ConversationId }>("SELECT id FROM conversations", [])
    const id = rows[0]?.id as ConversationId
    const [proposal] = await second.proposals(id)
    await second.decide(id, proposal?.proposed.id as never, "commit")
    // Previewed before the decision, checked again before it runs, and run: one zone.
    expect(new Set(zones)).toEqual(new Set(["Asia/Tokyo"]))
    expect(await second.results(id)).toEqual(["ok"])
  })

  test("of a decision does not matter: a proposal runs in the zone in which it was shown, even after a move", async () => {
    await using place = await database.create()
    await using world = await open(scripted(calls("change"), says("Done."), says("Hi.")), place.url)
    const id = await world.begin("change it", { timeZone: BERLIN })
    const [proposal] = await world.proposals(id)
    await world.decide(id, proposal?.proposed.id as never, "commit")
    expect(new Set(zones)).toEqual(new Set([BERLIN]))
    // A message in between would have settled the call before it could run on another node.
    await world.send(id, "hello", { timeZone: HONOLULU })
    expect(of(await world.events(id), "run_started").map(({ timeZone }) => timeZone)).toEqual([BERLIN, HONOLULU])
  })

  test("is recorded in the journal: a run that continues past midnight tells the model the day of its start", async () => {
    await using place = await database.create()
    const clock = new TurnedClock(LATE - 32 * 60_000) // two minutes to midnight in Berlin
    const held = { url: place.url, tools, timeZone: "UTC", clock }
    const model = scripted(calls("change"), says("Done."))
    await using world = await openChecked({ ...held, model })
    const id = await world.begin("change it", { timeZone: BERLIN })
    await clock.turn(5 * 60_000)
    await world.decide(id, (await world.proposals(id))[0]?.proposed.id as never, "commit")
    const [before, after] = model.received.map(({ request }) => request.system)
    expect(before).toContain("Friday, 2027-01-08")
    expect(after).toBe(before)
    expect(replay(id, world.user, await world.events(id)).run?.timeZone).toBe(BERLIN)
  })

  test("a run with an unknown time zone, or none, continues", async () => {
    await using place = await database.create()
    const model = scripted(always(says("Hi.")))
    await using world = await open(model, place.url)
    const id = await world.begin("hello", { timeZone: "Mars/Olympus" })
    expect((await world.load(id)).run?.status).toBe("completed")
    expect(model.received[0]?.request.system).toContain("Friday, 2027-01-08 for the person (time zone UTC)")
  })

  test.each([
    ["a path", "../etc/passwd"],
    ["an offset", "+02:00"],
    ["unknown", "Mars/Olympus"],
    ["empty", ""],
    ["a megabyte", "A".repeat(900_000)],
    ["a number", 7],
    ["a list", ["Europe/Berlin"]],
  ])("that is %s is refused over HTTP, and no message is recorded", async (_what, timeZone) => {
    await using place = await database.create()
    await using face = await Face.open({ url: place.url, model: scripted(), tools })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    const refused = await ada.post(`/api/conversations/${id}/messages`, { text: "hi", timeZone })
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ code: "bad_request", detail: expect.stringContaining("timeZone") })
    expect(refused.text.length).toBeLessThan(1000)
    expect((await ada.get(`/api/conversations/${id}`)).body.position).toBe(1)
  })

  test("is accepted over HTTP and over a socket; over a socket an invalid zone is ignored", async () => {
    await using server = await openServer({ database, model: scripted(always(says("Hi."))), tools })
    const ada = await server.visitor("ada")
    const id = await ada.begin({ agent: "test" })
    const zoneOf = async () => (await server.face.store.journal.load(id as never, true)).timeZone
    expect((await ada.post(`/api/conversations/${id}/messages`, { text: "hi", timeZone: BERLIN })).status).toBe(200)
    expect(await zoneOf()).toBe(BERLIN)
    using peer = await server.socket("ada")
    const say = async (timeZone: unknown) => {
      const finals = peer.seen.filter(({ type }) => type === "final").length
      peer.send({ type: "chat_request", message: "hi", context: { conversationId: id, timeZone } })
      await peer.until((seen) => seen.filter(({ type }) => type === "final").length > finals)
      return zoneOf()
    }
    expect(await say(HONOLULU)).toBe(HONOLULU)
    for (const odd of ["../etc", 7, null, { a: 1 }, "Mars/Olympus", "A".repeat(100_000)])
      expect(await say(odd)).toBe(HONOLULU)
    expect(peer.types()).not.toContain("error")
  })

  test("of a message that was queued, or steered into a run, holds from there on", async () => {
    await using place = await database.create()
    const [slow, model] = [new Held(), scripted(calls("wait"), calls("look"), says("a"), calls("look"), says("b"))]
    const more = [...tools, read("wait", slow.run)]
    zones.length = 0
    await using world = await openChecked({ url: place.url, model, tools: more, timeZone: "UTC" })
    const { id } = await world.start("one")
    await slow.begun
    await world.pawl.runtime.submit(id, message("and", { when: "steer", timeZone: BERLIN }))
    await world.pawl.runtime.submit(id, message("two", { timeZone: HONOLULU }))
    slow.end("waited")
    await world.pawl.runtime.rest(id)
    expect(zones).toEqual([BERLIN, HONOLULU])
    expect(of(await world.events(id), "run_started").map(({ timeZone }) => timeZone)).toEqual(["UTC", HONOLULU])
  })

  test("is kept by a fork", async () => {
    await using place = await database.create()
    await using face = await Face.open({ url: place.url, model: scripted(always(says("Hi."))), tools })
    const ada = await face.as("ada")
    const id = await ada.begin({ agent: "test" })
    await ada.post(`/api/conversations/${id}/messages`, { text: "hi", timeZone: BERLIN })
    const { position } = (await ada.get(`/api/conversations/${id}`)).body
    const forked = (await ada.post(`/api/conversations/${id}/fork`, { position })).body.id
    expect((await face.store.journal.load(forked, true)).timeZone).toBe(BERLIN)
  })
})
