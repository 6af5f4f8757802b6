import type { Model } from "../engine/model.ts"
import type { ModelSource } from "../engine/ports.ts"
import { failure } from "../protocol/errors.ts"
import { toAbilities } from "../protocol/models/providers.ts"
import type { ListedModel } from "../protocol/answers.ts"

/** Ready-made models that a program passes in, by name. The first is the default. */
export class ReadyModels implements ModelSource {
  readonly #models: ReadonlyMap<string, Model>

  constructor(models: ReadonlyMap<string, Model>) {
    if (models.size === 0) throw new TypeError("models: name at least one.")
    this.#models = models
  }

  async get(name: string | null): Promise<Model> {
    const [first] = this.#models.values()
    const model = name === null ? first : this.#models.get(name)
    if (!model) throw failure("unknown_model", { name: (name ?? "").slice(0, 100), choices: this.#names.join(", ") })
    return model
  }

  async list(): Promise<ListedModel[]> {
    return [...this.#models].map(([name, { provider, contextTokens }]) => {
      const facts = { features: ["tools"], can: toAbilities(["tools"]), contextTokens }
      return { name, provider, aliases: [], ...facts, available: true, need: null }
    })
  }

  async defaultName(): Promise<string> {
    return this.#names[0] ?? ""
  }

  get #names(): string[] {
    return [...this.#models.keys()]
  }
}
