import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { CommandError } from "../../apps/cli/process/command.ts"
import type { LifeEnd, LifeOrders } from "./life-files.ts"
import { crashtestText } from "../../apps/strings/tests.ts"

/** A process that takes longer is hanging. */
const PATIENCE_MS = 120_000

export type PlayedLife = { readonly died: true } | ({ readonly died: false } & LifeEnd)

/** A process of this program, with the same settings and packs, that plays scenarios. */
export class LifeProcess implements Disposable {
  readonly #child: ChildProcess
  readonly #closed: Promise<NodeJS.Signals | number>
  #said = ""

  constructor() {
    const [, program] = process.argv
    if (program === undefined) throw new CommandError(crashtestText.unknownProgram)
    this.#child = spawn(process.execPath, [...process.execArgv, program, "crashtest", "--life"], {
      stdio: ["ignore", "ignore", "pipe", "ipc"],
    })
    this.#child.stderr
      ?.setEncoding("utf8")
      .on("data", (text: string) => (this.#said = (this.#said + text).slice(-2000)))
    this.#closed = once(this.#child, "close").then(([code, signal]) => (signal ?? code) as NodeJS.Signals | number)
    // A failed start is reported to the caller that plays a scenario.
    this.#closed.catch(() => {})
  }

  /** Resolves when the scenario has finished, or the process was killed as ordered. */
  async play(orders: LifeOrders): Promise<PlayedLife> {
    const told = new Promise<PlayedLife>((resolve) => {
      this.#child.once("message", (end: LifeEnd) => resolve({ died: false, ...end }))
    })
    const gone = this.#closed.then((why): PlayedLife => {
      if (why === "SIGKILL" && orders.dies) return { died: true }
      return { died: false, failure: this.#said.trim() || crashtestText.processEnded(String(why)) }
    })
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<PlayedLife>((resolve) => {
      timer = setTimeout(
        () => resolve({ died: false, failure: crashtestText.processHangs(PATIENCE_MS / 1000) }),
        PATIENCE_MS,
      )
    })
    // Fails if the process has already ended, which `gone` reports.
    this.#child.send(orders, () => {})
    try {
      return await Promise.race([told, gone, late])
    } finally {
      clearTimeout(timer)
    }
  }

  [Symbol.dispose](): void {
    this.#child.kill("SIGKILL")
  }
}

/**
 * The processes of a crashtest. Starting a process takes most of its life, so the next one starts while this one plays,
 * and a process that has continued a killed run is used for the next run, in which it is killed itself.
 */
export class LifeProcesses implements Disposable {
  readonly #all = new Set<LifeProcess>()
  readonly #rested: LifeProcess[] = []
  /** The number of processes that are still needed. */
  #toCome = 0
  #atOnce = 1

  expect(kills: number, atOnce: number): void {
    this.#toCome = kills
    this.#atOnce = atOnce
    this.#prepare()
  }

  /** A process that has finished a scenario before, or a new one. */
  take(): LifeProcess {
    return this.#rested.pop() ?? this.#start()
  }

  /** A process to replace a killed one. */
  replace(killed: LifeProcess): LifeProcess {
    this.#all.delete(killed)
    this.#toCome--
    const next = this.take()
    this.#prepare()
    return next
  }

  giveBack(life: LifeProcess): void {
    this.#rested.push(life)
  }

  /** A process whose last scenario did not finish is not reused. */
  drop(life: LifeProcess): void {
    this.#all.delete(life)
    life[Symbol.dispose]()
  }

  [Symbol.dispose](): void {
    for (const life of this.#all) life[Symbol.dispose]()
  }

  #prepare(): void {
    while (this.#rested.length < Math.min(this.#atOnce, this.#toCome)) this.#rested.push(this.#start())
  }

  #start(): LifeProcess {
    const life = new LifeProcess()
    this.#all.add(life)
    return life
  }
}
