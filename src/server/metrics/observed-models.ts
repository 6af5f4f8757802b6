import type { BesidePart, Model, ReplyPart } from "../../agent/model.ts"
import type { ModelSource } from "../../agent/ports.ts"
import { codeOf } from "../../protocol/errors.ts"
import type { ServerMetrics } from "./server-metrics.ts"

/** The same models, with every call counted: by provider, because names of models are anybody's choice. */
export function observedModels(models: ModelSource, metrics: ServerMetrics): ModelSource {
  const observed = new WeakMap<Model, Model>()
  const observe = (model: Model): Model => {
    let known = observed.get(model)
    if (!known) observed.set(model, (known = observedModel(model, metrics)))
    return known
  }
  return { get: async (...given: Parameters<ModelSource["get"]>) => observe(await models.get(...given)) }
}

/** Reads everything through the model itself, whatever it has besides. */
function observedModel(model: Model, metrics: ServerMetrics): Model {
  return new Proxy(model, {
    get(target, name) {
      const value = Reflect.get(target, name, target) as unknown
      if (name !== "stream") return typeof value === "function" ? (value.bind(target) as unknown) : value
      return (...given: Parameters<Model["stream"]>) =>
        observedStream(target.stream(...given), given[1], { model, metrics })
    },
  })
}

interface Counting {
  readonly model: Model
  readonly metrics: ServerMetrics
}

/** Hands on every part as it is; only how the call ends is looked at. */
function observedStream(
  stream: AsyncIterable<ReplyPart | BesidePart>,
  signal: AbortSignal,
  { model, metrics }: Counting,
): AsyncIterable<ReplyPart | BesidePart> {
  const { provider: name, countedAs: provider = name } = model
  let ended = false
  const end = (outcome: string) => {
    if (!ended) metrics.modelCalls.add(1, { provider, outcome })
    ended = true
  }
  const seen = ({ done, value }: IteratorResult<ReplyPart | BesidePart, unknown>) => {
    if (done) return end("unfinished")
    const part = value as ReplyPart | BesidePart
    if (part.type !== "finish") return
    const { inputTokens, outputTokens } = part.usage
    if (inputTokens) metrics.modelTokens.add(inputTokens, { provider, direction: "input" })
    if (outputTokens) metrics.modelTokens.add(outputTokens, { provider, direction: "output" })
    end("ok")
  }
  const failed = (error: unknown) => end(signal.aborted ? "stopped" : (codeOf(error) ?? "internal"))
  return {
    [Symbol.asyncIterator]() {
      const inner = stream[Symbol.asyncIterator]()
      return {
        next() {
          const part = inner.next()
          part.then(seen, failed)
          return part
        },
        return: async (value?: unknown) => {
          end("stopped")
          return (await inner.return?.(value)) ?? { done: true, value: undefined }
        },
      }
    },
  }
}
