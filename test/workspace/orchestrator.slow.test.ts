import { afterAll, expect, test } from "vitest"
import { LocalEmbedder } from "../../src/models/embedders/local.ts"
import { orchestrator } from "../../src/packs/workspace/routing/orchestrator.ts"
import { heldBack, measure, utterances } from "../support/workspace/utterances.ts"
import { TurnedClock } from "../support/loop/world.ts"

const embedder = new LocalEmbedder()
afterAll(() => embedder.close())

test("with the embedder that ships it is sure more often, and still leaves out nothing that is needed", async () => {
  const route = orchestrator({ embedder, clock: new TurnedClock() })
  const known = await measure(route, utterances)
  const strange = await measure(route, heldBack)
  expect([...known.missing, ...strange.missing]).toEqual([])
  expect(known.unsure.length).toBeLessThanOrEqual(28)
  expect(strange.unsure.length).toBeLessThanOrEqual(15)
  expect(known.exact.length).toBeGreaterThanOrEqual(93)
  expect(strange.exact.length).toBeGreaterThanOrEqual(40)
})
