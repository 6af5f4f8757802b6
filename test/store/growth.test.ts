import { describe, expect, test } from "vitest"
import { z } from "zod"
import { defineAgent } from "../../core/engine/definition/agent.ts"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { openEngine } from "../../core/compose/open-engine.ts"
import { calls, says } from "../../core/models/scripted/script.ts"
import { always, scripted } from "../../core/models/scripted/model.ts"
import { SqlJournal } from "../../core/store/journal/journal.ts"
import { ThisNode } from "../../core/store/journal/nodes.ts"
import { openStore } from "../../core/store/store.ts"
import { systemClock } from "../../core/shared/time/clock.ts"
import type { Engine } from "../../core/store/engine/engine.ts"
import { databases } from "../support/databases.ts"
import { message } from "../support/loop/world.ts"

const TURNS = 300

describe.each(databases)("on $name", ({ create }) => {
  test("a turn sends as little to the store at the end of a long conversation as at its start", async () => {
    await using database = await create()
    await using store = await openStore({ url: database.url, durability: "normal" })
    let sent = 0
    let reads = 0
    const engine: Engine = {
      ...store.engine,
      change: ((operation: never) => {
        sent += JSON.stringify(operation).length
        return store.engine.change(operation)
      }) as Engine["change"],
      events(key, range) {
        reads++
        return store.engine.events(key, range)
      },
    }
    const lookup = defineTool({
      name: "lookup",
      description: "Looks something up.",
      input: z.object({ key: z.number() }),
      effect: "read",
      afterCrash: "run-again",
      run: ({ key }) => answer(`found ${String(key).padStart(6, "0")}`),
    })
    const model = scripted(
      always(({ history }) =>
        history.at(-1)?.role === "tool" ? says("Here it is.") : calls("lookup", { key: 100_000 + history.length }),
      ),
    )
    model.contextTokens = 10_000_000
    await using pawl = await openEngine({
      recovers: false,
      store: { ...store, engine, journal: new SqlJournal(engine, new ThisNode(engine, { clock: systemClock })) },
      agents: [defineAgent({ name: "test", description: "x", instructions: "x", tools: [lookup] })],
      models: model,
    })
    const { id: user } = await store.people.ensure("ada", 0)
    const { id } = await pawl.runtime.begin({ user, agent: "test" }, message("First question"))
    await pawl.runtime.rest(id)
    const bytes: number[] = []
    for (let turn = 0; turn < TURNS; turn++) {
      sent = 0
      await pawl.runtime.submit(id, message("Another question"))
      await pawl.runtime.rest(id)
      bytes.push(sent)
    }
    // The most frequent of several: some of them also include the node's heartbeat.
    const usual = (turns: number[]) => turns.sort((a, b) => a - b)[turns.length >> 1] as number
    const [early, late] = [usual(bytes.slice(1, 10)), usual(bytes.slice(-9))]
    expect(late / early).toBeLessThan(1.05) // positions and times have a few digits more
    expect(reads, "a hot conversation is never read again").toBe(0)
    expect(model.received.at(-1)?.history.length).toBe((TURNS + 1) * 4 - 1)
  }, 120_000)
})
