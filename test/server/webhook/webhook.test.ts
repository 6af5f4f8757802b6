import { describe, expect, test } from "vitest"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { Webhook } from "../../../core/server/webhook.ts"
import { databases, databasesInTurn } from "../../support/databases.ts"
import { isGenuine, Receiver } from "../../support/server/receiver.ts"
import { write } from "../../support/loop/tools.ts"
import { openWorld, TurnedClock, type World } from "../../support/loop/world.ts"

const SECRET = "a secret of thirty characters."
const MINUTE = 60_000

const proposing = () => scripted(always(calls(["pay", { q: "1" }], ["pay", { q: "2" }])))

function webhookOf(world: World, url: string, timeoutMs = 2000) {
  const { clock, log } = world.pawl.ports
  return new Webhook({ url, secret: SECRET, timeoutMs }, { deliveries: world.store.deliveries, clock, log })
}

const openPaying = (url: string, clock: TurnedClock, model = proposing()) =>
  openWorld({ url, clock, model, tools: [write("pay")] })

describe.each(databasesInTurn(import.meta.filename))("on $name", ({ create }) => {
  test("proposals that begin to wait are sent once, together, signed", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using world = await openPaying(database.url, clock)
    await using receiver = await Receiver.open((response) => response.writeHead(204).end())
    const webhook = webhookOf(world, receiver.url)
    await webhook.sweep()
    expect(receiver.calls).toEqual([])
    const id = await world.begin("pay twice")
    await webhook.sweep()
    await webhook.sweep()
    await clock.turn(10 * MINUTE)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(1)
    const [call] = receiver.calls
    const open = await world.proposals(id)
    expect(call?.body).toEqual({
      type: "awaiting_confirmation",
      conversationId: id,
      user: world.user,
      proposals: expect.arrayContaining(
        open.map(({ proposed: { id, tool, summary, action, expiresAt } }) => {
          return { id, tool, summary, action, expiresAt: new Date(expiresAt).toISOString() }
        }),
      ),
    })
    expect(call?.body.proposals).toHaveLength(2)
    const now = clock.now() - 10 * MINUTE
    expect(isGenuine(call!, SECRET, now)).toBe(true)
    expect(isGenuine({ ...call!, text: `${call?.text} ` }, SECRET, now)).toBe(false)
    expect(isGenuine(call!, "another secret, of no use", now)).toBe(false)
    expect(world.problems).toEqual([])
  })

  test("a receiver that fails gets the delivery again after growing delays, also after a restart, until it accepts", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using receiver = await Receiver.open((response, count) => response.writeHead(count <= 2 ? 500 : 200).end())
    {
      await using world = await openPaying(database.url, clock)
      await world.begin("pay")
      await webhookOf(world, receiver.url).sweep()
      await webhookOf(world, receiver.url).sweep()
      expect(receiver.calls, "not at once again").toHaveLength(1)
      expect(world.problems).toMatchObject([{ event: "webhook_failed", attempt: 1, problem: "it answered 500" }])
    }
    await using world = await openPaying(database.url, clock)
    const webhook = webhookOf(world, receiver.url)
    await clock.turn(1000)
    await webhook.sweep()
    await clock.turn(1500)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(2)
    await clock.turn(500)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(3)
    await clock.turn(MINUTE)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(3)
    expect(new Set(receiver.calls.map(({ headers }) => headers["pawl-delivery"])).size).toBe(1)
  })

  test("a delivery that a crashed process had claimed is claimed by another one", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using receiver = await Receiver.open((response) => response.end())
    await using world = await openPaying(database.url, clock)
    await world.begin("pay")
    const [due] = await world.store.deliveries.due(clock.now(), 10)
    expect(await world.store.deliveries.claim(due!, clock.now(), clock.now() + 30_000)).toBe(1)
    expect(
      await world.store.deliveries.claim(due!, clock.now(), clock.now() + 30_000),
      "only one gets it",
    ).toBeUndefined()
    await webhookOf(world, receiver.url).sweep()
    expect(receiver.calls).toEqual([])
    await clock.turn(31_000)
    await webhookOf(world, receiver.url).sweep()
    expect(receiver.calls).toHaveLength(1)
  })

  test("a proposal that is decided, expired or deleted before its delivery is not sent; an edited one waits again and is sent", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    await using receiver = await Receiver.open((response) => response.writeHead(503).end())
    const model = scripted(calls("pay"), says("Well."), always(calls("pay")))
    await using world = await openPaying(database.url, clock, model)
    const webhook = webhookOf(world, receiver.url)
    const decided = await world.begin("pay")
    await webhook.sweep()
    const [{ proposed } = { proposed: undefined }] = await world.proposals(decided)
    await world.decide(decided, proposed!.id, "reject")
    await clock.turn(MINUTE)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(1)

    const deleted = await world.begin("pay")
    await world.store.retention.eraseConversation(world.user, deleted)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(1)

    const edited = await world.begin("pay")
    await webhook.sweep()
    const [first] = await world.proposals(edited)
    await world.pawl.runtime.submit(edited, {
      type: "edit",
      proposalId: first!.proposed.id,
      arguments: { q: "less" },
      by: world.user,
    })
    await world.pawl.runtime.rest(edited)
    await webhook.sweep()
    expect(receiver.calls).toHaveLength(3)
    await clock.turn(60 * MINUTE)
    await webhook.sweep()
    expect(receiver.calls, "expired").toHaveLength(3)
  })
})

test.each([
  ["redirects", (receiver: Receiver) => receiver.url, "it answered 302"],
  ["says nothing", (receiver: Receiver) => receiver.url, "no answer within 100 ms"],
  ["is not there", (receiver: Receiver) => receiver.url, "ECONNREFUSED"],
] as const)("an address that %s is a failure, logged without its secrets", async (what, urlOf, problem) => {
  await using database = await databases[0]!.create()
  const clock = new TurnedClock()
  await using world = await openPaying(database.url, clock)
  await using elsewhere = await Receiver.open((response) => response.end())
  await using receiver = await Receiver.open((response) => {
    if (what === "redirects") response.writeHead(302, { location: elsewhere.url }).end()
  })
  await world.begin("pay")
  const address = urlOf(receiver)
  if (what === "is not there") await receiver[Symbol.asyncDispose]()
  const url = address.replace("http://", "http://user:pass-word@").replace("hook", "hook-T0K3N?key=hunter2")
  await webhookOf(world, url, 100).sweep()
  expect(world.problems).toMatchObject([{ event: "webhook_failed", problem }])
  expect(JSON.stringify(world.problems)).not.toMatch(/pass-word|T0K3N|hunter2|Pay/)
  expect(elsewhere.calls).toEqual([])
  if (what !== "is not there") expect(receiver.calls[0]?.headers.authorization).toBe(`Basic ${btoa("user:pass-word")}`)
})

test("it gives up in the end, and logs that", async () => {
  await using database = await databases[0]!.create()
  const clock = new TurnedClock()
  const policy = { proposalMinutes: 10_000 }
  await using world = await openWorld({ url: database.url, clock, model: proposing(), tools: [write("pay")], policy })
  await using receiver = await Receiver.open((response) => response.writeHead(400).end())
  await world.begin("pay")
  for (let round = 0; round < 40; round++) {
    await webhookOf(world, receiver.url).sweep()
    await clock.turn(6 * MINUTE)
  }
  expect(receiver.calls).toHaveLength(25)
  expect(world.problems.at(-1)).toMatchObject({ event: "webhook_dropped", attempt: 25 })
})
