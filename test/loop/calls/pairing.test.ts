import { describe, expect, test } from "vitest"
import { failed } from "../../../core/engine/definition/tool.ts"
import { calls, says } from "../../../core/models/scripted/script.ts"
import { scripted } from "../../../core/models/scripted/model.ts"
import { type CallStatus, CallStatus as statuses } from "../../../core/protocol/conversation/message.ts"
import type { ConversationId } from "../../../core/protocol/ids.ts"
import type { Mode } from "../../../core/protocol/schema.ts"
import { openChecked, repliesOf, resultsOf } from "../../support/loop/checked-world.ts"
import { databases } from "../../support/databases.ts"
import { aborted, Held, read, write } from "../../support/loop/tools.ts"
import { TurnedClock, type World } from "../../support/loop/world.ts"

const MINUTE = 60_000

/** A conversation whose model has called one tool. */
interface Scene {
  readonly world: World
  readonly id: ConversationId
  readonly clock: TurnedClock
  readonly held: Held
}

interface Way {
  readonly tool: string
  readonly mode?: Mode
  /** From the call to the moment in which the model is asked again. */
  happens(scene: Scene): Promise<void>
}

const nothing = async () => {}

const cancel = ({ world, id }: Scene) => world.pawl.runtime.submit(id, { type: "cancel", by: world.user })

async function onlyProposal({ world, id }: Scene) {
  await world.pawl.runtime.rest(id)
  const [open] = await world.proposals(id)
  return open!.proposed.id
}

/** How a call reaches each status. */
const ways: Record<CallStatus, Way> = {
  ok: { tool: "look", happens: nothing },
  error: { tool: "sorry", happens: nothing },
  denied: { tool: "note", mode: "read-only", happens: nothing },
  rejected: {
    tool: "note",
    happens: async (scene) => scene.world.decide(scene.id, await onlyProposal(scene), "reject"),
  },
  expired: {
    tool: "note",
    async happens(scene) {
      await onlyProposal(scene)
      await scene.clock.turn(15 * MINUTE)
      await scene.world.pawl.runtime.submit(scene.id, { type: "resume", by: scene.world.user })
    },
  },
  superseded: {
    tool: "note",
    async happens(scene) {
      await onlyProposal(scene)
      await scene.world.send(scene.id, "Make it 5.")
    },
  },
  timed_out: {
    tool: "held_read",
    async happens({ held, clock }) {
      await held.begun
      await clock.turn(30_000)
    },
  },
  cancelled: {
    tool: "held_read",
    async happens(scene) {
      await scene.held.begun
      await cancel(scene)
      await scene.world.pawl.runtime.rest(scene.id)
      await scene.world.send(scene.id, "Something else.")
    },
  },
  interrupted: {
    tool: "held_write",
    mode: "auto",
    async happens(scene) {
      const signal = await scene.held.begun
      await cancel(scene)
      await aborted(signal)
      await scene.clock.turn(2000)
      await scene.world.pawl.runtime.rest(scene.id)
      await scene.world.send(scene.id, "Something else.")
    },
  },
  in_doubt: {
    tool: "held_write",
    mode: "auto",
    async happens(scene) {
      const { world, id, clock, held } = scene
      await held.begun
      await clock.turn(32_000)
      const proposalId = await onlyProposal(scene)
      await world.pawl.runtime.submit(id, { type: "resolve", proposalId, choice: "abandon", by: world.user })
    },
  },
}

describe.each(databases)("on $name", ({ create }) => {
  test.each(statuses.options)(
    "a call that ends as %s has exactly one result in the next request to the model",
    async (status) => {
      await using database = await create()
      const { tool, mode, happens } = ways[status]
      const clock = new TurnedClock()
      const held = new Held()
      const model = scripted(calls([tool], ["look", { q: "also" }]), says("I see."))
      const tools = [
        read("look"),
        read("sorry", () => failed("Try another.")),
        write("note"),
        read("held_read", held.run),
        write("held_write", held.run),
      ]
      await using world = await openChecked({ url: database.url, model, tools, clock })
      const { id } = await world.start("Go.", mode ? { mode } : {})
      await happens({ world, id, clock, held })
      await world.pawl.runtime.rest(id)

      const told = model.received[1]?.history.find((turn) => turn.role === "tool")
      expect(told?.role === "tool" && told.results.map((result) => result.status)).toEqual([status, "ok"])
      expect(await resultsOf(world, id)).toMatchObject([{ status }, { status: "ok" }])
      expect(await repliesOf(world, id)).toEqual(["", "I see."])
    },
  )
})
