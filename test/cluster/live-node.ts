import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { AwayPostgres } from "../support/away-postgres.ts"
import { ownPort } from "../support/processes/own-port.ts"
import { PawlProcess } from "../support/processes/pawl-process.ts"
import type { Balancer } from "./balancer.ts"

/** Loaded into a process before anything else (`--import`), it shifts the time of day. */
export const shiftedClock = join(import.meta.dirname, "shifted-clock.ts")

/** As often as a balancer asks whether a node is ready. */
const ASKED_EVERY_MS = 300

/**
 * `pawl serve` as one of several processes behind a balancer, which can be cut off from its PostgreSQL and its NATS. It is
 * killed, stopped and started again, and its clock is set; the balancer notices as one does that asks for `/readyz`.
 */
export class LiveNode implements AsyncDisposable {
  readonly #environment: Record<string, string>
  readonly #balancer: Balancer
  readonly #port: string
  readonly #clockFile: string
  readonly postgres: AwayPostgres
  readonly nats: AwayPostgres | undefined
  #process: PawlProcess | undefined

  private constructor(port: string, environment: Record<string, string>, balancer: Balancer, links: Links) {
    this.#port = port
    this.#clockFile = join(environment.PAWL_DATA ?? "", "shifted-clock")
    const clock = { NODE_OPTIONS: `--import=${pathToFileURL(shiftedClock)}`, SHIFTED_CLOCK: this.#clockFile }
    this.#environment = { ...environment, ...clock, PAWL_PORT: port }
    this.#balancer = balancer
    this.postgres = links.postgres
    this.nats = links.nats
  }

  static async start(environment: Record<string, string>, balancer: Balancer): Promise<LiveNode> {
    const { DATABASE_URL = "", NATS_URL, ...rest } = environment
    const postgres = new AwayPostgres(DATABASE_URL)
    const nats = NATS_URL ? new AwayPostgres(NATS_URL) : undefined
    const urls = { DATABASE_URL: await postgres.open(), ...(nats ? { NATS_URL: await nats.open() } : {}) }
    const node = new LiveNode(await ownPort(), { ...rest, ...urls }, balancer, { postgres, nats })
    await node.start()
    return node
  }

  async start(): Promise<void> {
    const process = new PawlProcess(["serve"], this.#environment)
    this.#process = process
    await process.says(/listening on (\S+)\n/)
    this.#balancer.add(this.#port)
  }

  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    if (signal === "SIGKILL") this.#balancer.remove(this.#port)
    const ended = this.#process?.kill(signal)
    this.#balancer.remove(this.#port)
    await ended
  }

  /** Stops cleanly and starts again; the balancer notices by polling. */
  async restart(): Promise<void> {
    const ended = this.#process?.kill("SIGTERM")
    while (await this.#isReady()) await pause(ASKED_EVERY_MS)
    this.#balancer.drain(this.#port)
    await ended
    await this.start()
  }

  async #isReady(): Promise<boolean> {
    const answer = await fetch(`http://127.0.0.1:${this.#port}/readyz`).catch(() => undefined)
    await answer?.text()
    return answer?.status === 200
  }

  pause(): void {
    this.#process?.child.kill("SIGSTOP")
    this.#balancer.remove(this.#port)
  }

  goOn(): void {
    this.#process?.child.kill("SIGCONT")
    this.#balancer.add(this.#port)
  }

  /** Shifts its time of day by this much; 0 corrects it. The shift survives a restart. */
  setClock(aheadMs: number): void {
    writeFileSync(this.#clockFile, String(aheadMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process?.child.kill("SIGCONT")
    await this.end("SIGKILL")
    await this.postgres[Symbol.asyncDispose]()
    await this.nats?.[Symbol.asyncDispose]()
  }
}

interface Links {
  readonly postgres: AwayPostgres
  readonly nats: AwayPostgres | undefined
}
