import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client"

/** How a program is started: within its walls, with nothing of ours but what it was given. */
export interface Launched extends AsyncDisposable {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** What it reads from its descriptor 3. */
  readonly handed?: Buffer
  /** Why it has to be ended, with all that it has started. */
  whyTooMuch?(pid: number): string | undefined
}

const GRACE_MS = 1000
const LOOK_EVERY_MS = 500

/**
 * Speaks with a program over its input and output. It has a process group of its own, which ends with it; what it says is
 * read up to a line of `mostBytes`, and what it says on its error output is not kept.
 */
export class ProgramTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: ((message: JSONRPCMessage) => void) | undefined
  readonly #launched: Launched
  readonly #lines: ReadBuffer
  #child: ChildProcess | undefined
  #watch: NodeJS.Timeout | undefined

  constructor(launched: Launched, mostBytes: number) {
    this.#launched = launched
    this.#lines = new ReadBuffer({ maxBufferSize: mostBytes })
  }

  start(): Promise<void> {
    const { program, arguments: words, cwd, environment, handed, whyTooMuch } = this.#launched
    const child = spawn(program, words, {
      cwd,
      env: { ...environment },
      detached: true,
      stdio: ["pipe", "pipe", "ignore", ...(handed ? ["pipe" as const] : [])],
    })
    this.#child = child
    ;(child.stdio[3] as Writable | undefined)?.on("error", () => {}).end(handed)
    child.stdin?.on("error", (error) => this.onerror?.(error))
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk))
    // What it has started and left behind holds its output, so that without this it would never be over.
    child.once("exit", () => this.#end("SIGKILL"))
    child.once("close", () => this.#ended())
    if (whyTooMuch) {
      this.#watch = setInterval(() => {
        const why = child.pid === undefined ? undefined : whyTooMuch(child.pid)
        if (why !== undefined) this.#fail(new Error(`it took ${why}`))
      }, LOOK_EVERY_MS)
      this.#watch.unref()
    }
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve)
      child.once("error", reject)
    })
  }

  send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin || stdin.destroyed) return Promise.reject(new Error("it has ended"))
    return new Promise((resolve, reject) => {
      stdin.write(serializeMessage(message), (error) => (error ? reject(error) : resolve()))
    })
  }

  async close(): Promise<void> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
    child.stdin?.end()
    this.#end("SIGTERM")
    const late = setTimeout(() => this.#end("SIGKILL"), GRACE_MS)
    await ended
    clearTimeout(late)
    this.#end("SIGKILL") // what it has started and left behind
  }

  #hear(chunk: Buffer): void {
    try {
      this.#lines.append(chunk) // throws where a line is too long
    } catch (error) {
      return this.#fail(error as Error)
    }
    while (this.#readLine());
  }

  #readLine(): boolean {
    try {
      const message = this.#lines.readMessage()
      if (message !== null) this.onmessage?.(message)
      return message !== null
    } catch (error) {
      // Some print what they do beside what they say: a line that is no message is left out.
      this.onerror?.(error as Error)
      return true
    }
  }

  /** What it says cannot be read, or it takes too much: nothing that it says later can be trusted to be whole. */
  #fail(error: Error): void {
    this.onerror?.(error)
    this.#child?.stdout?.destroy()
    this.#end("SIGKILL")
  }

  #ended(): void {
    clearInterval(this.#watch)
    void this.#launched[Symbol.asyncDispose]()
    this.onclose?.()
  }

  #end(by: NodeJS.Signals): void {
    try {
      if (this.#child?.pid !== undefined) process.kill(-this.#child.pid, by)
    } catch {
      // Nobody is left in it.
    }
  }
}
