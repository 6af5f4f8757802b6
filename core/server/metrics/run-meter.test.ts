import { expect, test } from "vitest"
import type { Model } from "../../engine/model.ts"
import type { UserId } from "../../protocol/ids.ts"
import { observedModels } from "./run-meter.ts"
import { createServerMetrics } from "./server-metrics.ts"

test("calls are counted by provider, and at a person's own endpoint without its name", async () => {
  const metrics = createServerMetrics()
  const model = (provider: string, more: Partial<Model> = {}): Model => ({
    ...{ name: `${provider}/m`, provider, contextTokens: 1000, ...more },
    async *stream() {
      yield { type: "finish", finish: "stop", usage: { inputTokens: 3, outputTokens: 2 } } as const
    },
  })
  const known = [model("openai"), model("adas-diary", { countedAs: "own" })]
  for (const each of known) {
    const { get } = observedModels({ get: async () => each }, metrics)
    const observed = await get(null, "user_ada" as UserId)
    await Array.fromAsync(observed.stream({} as never, new AbortController().signal))
  }
  const told = metrics.all.text()
  expect(told).toContain('provider="openai"')
  expect(told).toContain('provider="own"')
  expect(told).not.toContain("diary")
})
