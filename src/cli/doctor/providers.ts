import type { ModelRegistry } from "../../models/registry.ts"
import type { ProbedProvider } from "../../models/discovery/probe.ts"
import type { Finding } from "./finding.ts"

const PATIENCE_MS = 5000

/** Whether the providers that are set up answer with their keys: each is asked for its list of models, which costs nothing. */
export async function* examineProviders(models: Pick<ModelRegistry, "look" | "probe">): AsyncGenerator<Finding> {
  const began = performance.now()
  const [{ endpoints }, probed] = await Promise.all([
    models.look({ refresh: true, waitMs: PATIENCE_MS }),
    models.probe(AbortSignal.timeout(PATIENCE_MS)),
  ])
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
  yield* probed.map((each) => toFinding(each, ms))
}

function toFinding({ provider, outcome, problem }: ProbedProvider, ms: number): Finding {
  switch (outcome) {
    case "answers":
      return ["ok", `provider ${provider}: answers (all within ${ms} ms)`]
    case "no list":
      return [
        "note",
        `provider ${provider}: it is reached, but tells nothing for nothing; ${TRY} ${provider}/… "hello"`,
      ]
    case "unasked":
      return [
        "note",
        `provider ${provider}: it is set up; whether its key is taken only a question tells: ${TRY} ${provider}/… "hello"`,
      ]
    case "failed":
      return ["wrong", `provider ${provider}: ${problem ?? "it did not answer"}; see to its key and its address`]
  }
}

const TRY = "try pawl exec --model"
