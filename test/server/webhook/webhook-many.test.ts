import { describe, expect, test } from "vitest"
import { calls } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { Webhook } from "../../../core/server/webhook.ts"
import { databasesInTurn } from "../../support/databases.ts"
import { Receiver } from "../../support/server/receiver.ts"
import { write } from "../../support/loop/tools.ts"
import { openWorld, TurnedClock } from "../../support/loop/world.ts"

const THREE = ["1", "2", "3"].map((q): [string, { q: string }] => ["pay", { q }])

describe.each(databasesInTurn(import.meta.filename))("on $name", ({ create }) => {
  test("however many proposals wait, each is sent once, together with those of its reply", async () => {
    await using database = await create()
    const clock = new TurnedClock()
    const model = scripted(always(calls(...THREE)))
    await using world = await openWorld({ url: database.url, clock, model, tools: [write("pay")] })
    const { log } = world.pawl.ports
    await using receiver = await Receiver.open((response) => response.writeHead(204).end())
    const settings = { url: receiver.url, secret: "a secret of thirty characters." }
    const webhook = new Webhook(settings, { deliveries: world.store.deliveries, clock, log })
    const waiting: string[] = []
    for (let n = 0; n < 30; n++) {
      const id = await world.begin("pay three times")
      waiting.push(...(await world.proposals(id)).map(({ proposed }) => proposed.id))
    }
    for (let sweep = 0; sweep < 4; sweep++) await webhook.sweep()
    expect(receiver.calls).toHaveLength(30)
    const told = receiver.calls.map(({ body }) => body.proposals.map(({ id }: { id: string }) => id) as string[])
    expect(told.map((ids) => ids.length)).toEqual(new Array(30).fill(3))
    expect(told.flat().sort()).toEqual(waiting.sort())
  })
})
