import { asUsual } from "../worked.ts"
import { PawlProcess } from "./pawl-process.ts"

const WATCH = new URL("./longest-turn.ts", import.meta.url).href

/** `pawl serve` in a process that measures the turns of its event loop. */
export class WatchedServer extends PawlProcess {
  #asked = 0

  /** `script`: another program than `pawl serve`. */
  constructor(settings: Record<string, string>, script?: string) {
    const environment = { ...settings, NODE_OPTIONS: `--import=${WATCH}` }
    super(script ? [] : ["serve"], environment, script ? { script } : {})
  }

  /** The url on which it listens. */
  async url(): Promise<string> {
    return (await this.says(/listening on (\S+)/))[1] ?? ""
  }

  /** Returns the longest turn of its event loop since the last call, in ms of the usual processor. */
  async longestTurn(): Promise<number> {
    this.child.kill("SIGUSR2")
    return asUsual(Number((await this.says(new RegExp(`longest turn ${++this.#asked}: (\\d+) ms`)))[1]))
  }
}
