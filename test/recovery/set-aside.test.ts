import { describe, expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool, type WriteOutcome } from "../../core/engine/definition/tool.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import type { ConversationId } from "../../core/protocol/ids.ts"
import { databases } from "../support/databases.ts"
import { Mortal } from "../support/loop/faults.ts"
import { openWorld } from "../support/loop/world.ts"

const model = () => scripted(always(({ history }) => (history.at(-1)?.role === "user" ? calls("save") : says("Ok."))))

describe.each(databases)("on $name", ({ create }) => {
  test.each<[done: boolean, status: string, proposal: string]>([
    [true, "ok", "applied"],
    [false, "error", "failed"],
  ])("a write whose run is set aside is settled by asking its target (done: %s)", async (done, status, proposal) => {
    await using database = await create()
    let id: ConversationId | undefined
    for (let life = 1; life <= 4; life++) {
      const mortal = new Mortal()
      const outcome = (): WriteOutcome => {
        if (life < 4) mortal.kill() // asking it ends the process, until the last time
        return done ? answer("Saved before.") : "not-applied"
      }
      const run = () => {
        mortal.kill()
        return answer("Saved.")
      }
      const asked = {
        effect: "write",
        inverse: false,
        afterCrash: "ask-target",
        outcome: async () => outcome(),
      } as const
      const save = defineTool({
        name: "save",
        description: "Saves.",
        input: z.object({}),
        run: async () => run(),
        ...asked,
      })
      await using world = await openWorld({ ...database, model: model(), tools: [save], between: mortal.between })
      if (id) await world.pawl.runtime.recover()
      else id = (await world.start("Save it.", { mode: "auto" })).id
      await world.pawl.runtime.rest(id)
      if (life < 4) continue
      expect((await world.load(id)).run).toMatchObject({ status: "failed", error: { code: "set_aside" } })
      expect(await world.results(id)).toEqual([status])
      const rows = await world.store.engine.query<{ status: string }>("SELECT status FROM proposals", [])
      expect(rows).toEqual([{ status: proposal }])
    }
  })
})
