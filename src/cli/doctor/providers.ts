import type { ModelRegistry } from "../../models/registry.ts"
import type { Finding } from "./finding.ts"

const PATIENCE_MS = 5000

/** Whether the providers that are set up answer with their keys: each is asked for its list of models, which costs nothing. */
export async function* examineProviders(models: Pick<ModelRegistry, "look">): AsyncGenerator<Finding> {
  const began = performance.now()
  const { endpoints } = await models.look({ refresh: true, waitMs: PATIENCE_MS })
  const ms = Math.round(performance.now() - began)
  for (const { provider, state, models: known, problem } of endpoints) {
    if (state === "answered") yield ["ok", `provider ${provider}: answers, ${known} models (all within ${ms} ms)`]
    if (state === "failed")
      yield ["wrong", `provider ${provider}: ${problem ?? "it did not answer"}; see to its key and its address`]
    if (state === "asking" || state === "unasked")
      yield [
        "wrong",
        `provider ${provider}: no answer within ${PATIENCE_MS / 1000} s; see to its address and your proxies`,
      ]
  }
}
