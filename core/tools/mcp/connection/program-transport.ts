import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { type JsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client"

/** How a program is started: within its walls, with nothing of ours but what it was given. */
export interface Launched extends AsyncDisposable {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** What it reads from its descriptor 3. */
  readonly handed?: Buffer
  /** What holds it, as a sentence for whoever has to find out why it failed. */
  readonly says?: string
  /** Why it has to be ended, with all that it has started. */
  whyTooMuch?(pid: number): string | undefined
}

const GRACE_MS = 1000
const LOOK_EVERY_MS = 500

/** Of its error output the end. */
const MAX_ERRORS = 4000
const MAX_LINE = 160

/**
 * Speaks with a program over its input and output. It has a process group of its own, which ends with it; what it says is
 * read as long as each line is within its limits. Of its error output only the end is stored, to say why it failed.
 */
export class ProgramTransport implements Transport {
  onclose: (() => void) | undefined
  onerror: ((error: Error) => void) | undefined
  onmessage: ((message: JSONRPCMessage) => void) | undefined
  readonly #launched: Launched
  readonly #lines: ReadBuffer
  readonly #meter: JsonMeter
  #child: ChildProcess | undefined
  #errors = ""
  #watch: NodeJS.Timeout | undefined

  constructor(launched: Launched, limits: JsonLimits) {
    this.#launched = launched
    this.#lines = new ReadBuffer({ maxBufferSize: limits.characters })
    this.#meter = new JsonMeter(limits)
  }

  start(): Promise<void> {
    const { program, arguments: words, cwd, environment, handed, whyTooMuch } = this.#launched
    const child = spawn(program, words, {
      cwd,
      env: { ...environment },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", ...(handed ? ["pipe" as const] : [])],
    })
    this.#child = child
    ;(child.stdio[3] as Writable | undefined)?.on("error", () => {}).end(handed)
    child.stdin?.on("error", (error) => this.onerror?.(error))
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk)).on("error", (error) => this.onerror?.(error))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_ERRORS)
    })
    child.stderr?.on("error", () => {})
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
      child.on("error", reject) // each time: an error that no one listens for ends this process
    })
  }

  /** How it ended, what holds it and the last line of its error output, in sentences. */
  get circumstances(): string {
    const { exitCode = null, signalCode = null } = this.#child ?? {}
    const how =
      exitCode !== null ? `It ended with exit code ${exitCode}` : signalCode ? `It was ended by ${signalCode}` : ""
    const lines = stripVTControlCharacters(this.#errors)
      .split("\n")
      .map((each) => each.trim())
      .filter(Boolean)
    const last = lines.findLast((each) => /error|cannot|not found|denied|failed/i.test(each)) ?? lines.at(-1)
    const wrote = last === undefined ? "It wrote nothing on stderr" : `On stderr: ${last.slice(0, MAX_LINE)}`
    return [how, this.#launched.says, wrote].filter(Boolean).join(". ")
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
      this.#count(chunk.toString("latin1"))
      this.#lines.append(chunk) // throws where a line is too long
    } catch (error) {
      return this.#fail(error as Error)
    }
    while (this.#readLine());
  }

  /** Throws if a line holds too much: the library parses what it gets. */
  #count(text: string): void {
    for (let at = 0; at < text.length;) {
      const end = text.indexOf("\n", at) + 1
      this.#meter.add(text, at, end || text.length)
      if (end === 0) return
      this.#meter.reset()
      at = end
    }
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
    const removed = Promise.resolve(this.#launched[Symbol.asyncDispose]())
    removed.catch((error: unknown) => this.onerror?.(error as Error))
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
