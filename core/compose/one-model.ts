import type { Model } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import { failure } from "../protocol/errors.ts"
import { toAbilities } from "../protocol/models/providers.ts"
import type { ModelCatalogue } from "../server/conversation/ports.ts"

/** A registry that has one model. */
export function oneModel(model: Model): ModelSource & ModelCatalogue {
  const { name, provider, contextTokens } = model
  return {
    async get(wanted) {
      if (wanted === null || wanted === name) return model
      throw failure("unknown_model", { name: wanted.slice(0, 100), choices: name })
    },
    list: async () => [
      {
        ...{ name, provider, contextTokens, aliases: [], available: true, need: null },
        ...{ features: ["tools"], can: toAbilities(["tools"]) },
      },
    ],
    defaultName: async () => name,
  }
}
