import type { Model, ModelRequest } from "../../agent/model.ts"
import type { ModelSource } from "../../agent/ports.ts"
import { calls, replies, says } from "../../models/scripted/script.ts"
import { always, scripted } from "../../models/scripted/model.ts"
import { checkRequest } from "../../models/scripted/check-request.ts"
import { noteLine } from "./life-files.ts"
import type { CrashScenario } from "./scenario.ts"

/** Replies by how often it has replied in what it is shown: a new process goes on where the last one was killed. */
export function toldModel(script: NonNullable<CrashScenario["replies"]>): Model {
  const reply = ({ history }: ModelRequest) => {
    const said = history.filter(({ role }) => role === "assistant").length
    const next = script[said]
    if (!next) throw new Error(`The scenario has ${script.length} replies, and the model is asked for one more.`)
    const called = next.calls.map(({ name, input }) => calls(name, input))
    return replies(...(next.text === "" ? [] : [says(next.text)]), ...called)
  }
  // A scenario says what is replied, not what stages would decide: those go on as where no model can judge.
  return Object.assign(scripted(always(reply)), { decides: false as const })
}

/** The same models, each request held against what a strict provider takes (promise 7). */
export function checkedModels(models: ModelSource, problems: string): ModelSource {
  return {
    ...models,
    async get(name, user) {
      const model = await models.get(name, user)
      const stream: Model["stream"] = (request, signal) => {
        try {
          checkRequest(request)
        } catch (error) {
          noteLine(problems, (error as Error).message)
        }
        return model.stream(request, signal)
      }
      return { ...model, name: model.name, provider: model.provider, contextTokens: model.contextTokens, stream }
    },
  }
}
