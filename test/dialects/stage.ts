import type { Model } from "../../core/engine/model.ts"
import { scripted, type ScriptedModel, type ScriptedReply } from "../../core/models/scripted/model.ts"
import type { TestDatabase } from "../support/databases.ts"
import { Face, type FaceOptions, type Visitor } from "../support/server/face.ts"

/** A server in this process whose model plays the script of each test, and Ada, who uses our own API. */
export class Stage implements AsyncDisposable {
  readonly face: Face
  readonly native: Visitor
  readonly #playing: { model: ScriptedModel }

  private constructor(face: Face, native: Visitor, playing: { model: ScriptedModel }) {
    this.face = face
    this.native = native
    this.#playing = playing
  }

  static async open({ create }: Pick<TestDatabase, "create">, more: Partial<FaceOptions> = {}): Promise<Stage> {
    const playing = { model: scripted() }
    const model: Model = {
      ...{ name: "scripted", provider: "scripted", contextTokens: 200_000 },
      stream: (request, signal) => playing.model.stream(request, signal),
    }
    const face = await Face.open({ url: (await create()).url, model, ...more })
    return new Stage(face, await face.as("ada"), playing)
  }

  /** Sets the next replies of the model. */
  plays(...script: ScriptedReply[]): void {
    this.#playing.model = scripted(...script)
  }

  /** Requests to the model since the last `plays`. */
  get received(): ScriptedModel["received"] {
    return this.#playing.model.received
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.face[Symbol.asyncDispose]()
  }
}
