import { type ChildProcess, spawn } from "node:child_process"
import type { Writable } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import { type JsonLimits, JsonMeter } from "../../../shared/text/read-json.ts"
import { ReadBuffer, serializeMessage, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client"

/** A program that was started in its sandbox, with only the given environment. */
export interface Launched extends AsyncDisposable {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  /** Data for its file descriptor 3. */
  readonly handed?: Buffer
  /** A sentence about its sandbox for error messages. */
  readonly says?: string
  /** Why it must be killed, with its children; undefined while it stays within its limits. */
  whyTooMuch?(pid: number): string | undefined
}

const GRACE_MS = 1000
const LOOK_EVERY_MS = 500

/** Most stored characters of its error output. */
const MAX_ERRORS = 4000
const MAX_LINE = 160

/**
 * Talks to a program over stdin and stdout. The program has its own process group, which is killed with it. Each line of its
 * output is bounded; of stderr only the end is stored, to explain failures.
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
    const { program, arguments: args, cwd, environment, handed: input, whyTooMuch } = this.#launched
    const child = spawn(program, args, {
      cwd,
      env: { ...environment },
      detached: true,
      stdio: ["pipe", "pipe", "pipe", ...(input ? ["pipe" as const] : [])],
    })
    this.#child = child
    ;(child.stdio[3] as Writable | undefined)?.on("error", () => {}).end(input)
    child.stdin?.on("error", (error) => this.onerror?.(error))
    child.stdout?.on("data", (chunk: Buffer) => this.#hear(chunk)).on("error", (error) => this.onerror?.(error))
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#errors = (this.#errors + text).slice(-MAX_ERRORS)
    })
    child.stderr?.on("error", () => {})
    // Its remaining children hold the output open, so without this it would never close.
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
      child.on("error", reject) // each time: an error without a listener ends this process
    })
  }

  /** How it ended, its sandbox, and the last line of its error output. */
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
    this.#end("SIGKILL") // remaining children
  }

  #hear(chunk: Buffer): void {
    try {
      this.#count(chunk.toString("latin1"))
      this.#lines.append(chunk) // throws if a line is too long
    } catch (error) {
      return this.#fail(error as Error)
    }
    while (this.#readLine());
  }

  /** Throws if a line exceeds the limits, because the library parses everything. */
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
      // Some programs log to stdout: a line that is no message is skipped.
      this.onerror?.(error as Error)
      return true
    }
  }

  /** Its output cannot be read, or it uses too much: later output cannot be trusted. */
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
      // The group is gone.
    }
  }
}
