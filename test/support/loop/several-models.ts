import type { ModelSource } from "../../../core/engine/ports.ts"
import { scripted, type ScriptedModel, type ScriptedReply } from "../../../core/models/scripted/model.ts"
import { failure } from "../../../core/protocol/errors.ts"

/** A scripted model with its own name, which is also its provider's name. */
export function named(name: string, ...replies: readonly ScriptedReply[]): ScriptedModel {
  return Object.assign(scripted(...replies), { name, provider: name })
}

/** These models by name; the first is the default. `locked` is known and has no key. */
export function severalModels(...models: readonly ScriptedModel[]): ModelSource {
  return {
    async get(name) {
      if (name === "locked") throw failure("not_configured", { model: name, need: "set LOCKED_API_KEY" })
      const model = name === null ? models[0] : models.find((each) => each.name === name)
      if (!model) throw failure("unknown_model", { name: name ?? "", choices: models.map((each) => each.name).join() })
      return model
    },
  }
}
