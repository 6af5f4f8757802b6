import type { ServerResponse } from "node:http"
import { chatChunk, sse } from "../../../core/models/providers/server.fixture.ts"
import { ownPort } from "./own-port.ts"
import { PawlProcess } from "./pawl-process.ts"
import { tokenFor } from "./token-for.ts"

/** A reply that starts and then hangs, so that a test can kill the server that waits for it. */
export function beginsOnly(text = "It begins") {
  const asked = Promise.withResolvers<void>()
  return {
    asked: asked.promise,
    reply(response: ServerResponse) {
      response.write(sse(chatChunk({ role: "assistant", content: text })))
      asked.resolve()
    },
  }
}

/** `pawl serve` that is killed and restarted under the same address. */
export class KilledServer implements AsyncDisposable {
  readonly #settings: Record<string, string>
  #life: PawlProcess
  readonly url: string
  readonly token: string

  private constructor(settings: Record<string, string>, life: PawlProcess, known: { url: string; token: string }) {
    this.#settings = settings
    this.#life = life
    this.url = known.url
    this.token = known.token
  }

  static async open(settings: Record<string, string>): Promise<KilledServer> {
    const ported = { ...settings, PAWL_PORT: await ownPort() }
    const life = new PawlProcess(["serve"], ported)
    const [, url = ""] = await life.says(/listening on (\S+)\n/)
    return new KilledServer(ported, life, { url, token: await tokenFor(settings) })
  }

  kill(): Promise<unknown> {
    return this.#life.kill("SIGKILL")
  }

  async comeBack(): Promise<void> {
    this.#life = new PawlProcess(["serve"], this.#settings)
    await this.#life.says(/listening on (\S+)\n/)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#life[Symbol.asyncDispose]()
  }
}
