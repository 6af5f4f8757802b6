import { spawn } from "node:child_process"
import type { Writable } from "node:stream"
import { orphanGuard, SecretFilter } from "../../../core/pack.ts"

/** The most bytes from each end, because the start and the end of an output matter most. */
const MAX_EACH = 20_000
/** Shorter than the loop waits for a cancelled write. */
const GRACE_MS = 1000
/** How long the output may stay open and silent after the end. All checks together also take less than `GRACE_MS`. */
const SILENT_MS = 150
const MAX_ROUNDS = 4
const LOOK_EVERY_MS = 100

export interface Process {
  readonly program: string
  readonly arguments: readonly string[]
  readonly cwd: string
  readonly environment: Readonly<Record<string, string>>
  readonly seconds: number
  readonly signal: AbortSignal
  /** Descriptors that it gets as 3, 4, … */
  readonly descriptors?: readonly number[]
  /** The most output that is stored, from each end. */
  readonly most?: number
  /** Its standard input. Default: closed. */
  readonly input?: string
  /** The contents of its descriptor 3; replaces `descriptors`. */
  readonly descriptor3?: Buffer
  /** Removed from its output, even across chunks and at a cut. */
  readonly secrets?: Iterable<string>
  /** Returns the reason to kill it with all its processes. Called often while it runs. */
  readonly whyTooMuch?: (pid: number) => string | undefined
}

export interface ProcessResult {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly output: string
  readonly errors: string
  readonly how: "ended" | "timed_out" | "stopped" | "too_much"
  /** The resource that exceeded its limit. */
  readonly tooMuch?: string
  /** A child process has left its group and still has its output open, so it may continue to run. */
  readonly hasSurvivingProcess: boolean
}

/**
 * Runs a program in its own process group, without input, and ends the whole group when the program exits, at the time
 * limit, on cancellation, and when this process is killed. Processes that leave the group are only limited by the
 * sandbox. They are not awaited: one that holds the output open would never end the call.
 */
export function runProcess(given: Process): Promise<ProcessResult> {
  const { program, cwd, environment, seconds, signal, descriptors = [], most = MAX_EACH, input, descriptor3 } = given
  return new Promise((resolve, reject) => {
    signal.throwIfAborted()
    orphanGuard.begin() // before the start, so that the guard never misses the program
    const stdin = input === undefined ? "ignore" : "pipe"
    const child = spawn(program, given.arguments, {
      cwd,
      env: { ...environment },
      detached: true,
      stdio: [stdin, "pipe", "pipe", ...(descriptor3 ? ["pipe" as const] : descriptors)],
    })
    if (child.pid !== undefined) orphanGuard.add(-child.pid)
    const third = descriptor3 && (child.stdio[3] as Writable)
    third?.on("error", () => {}).end(descriptor3) // the program may end without reading it
    child.stdin?.on("error", () => {}).end(input)
    const [output, errors] = [new BothEnds(most, given.secrets), new BothEnds(most, given.secrets)]
    let chunksReceived = 0
    const onChunk = (ends: BothEnds) => (chunk: Buffer) => {
      chunksReceived++
      ends.add(chunk)
    }
    child.stdout?.on("data", onChunk(output))
    child.stderr?.on("data", onChunk(errors))
    let how: ProcessResult["how"] = "ended"
    let kill: NodeJS.Timeout | undefined
    let open: NodeJS.Timeout | undefined
    const stop = (why: ProcessResult["how"]) => {
      if (how !== "ended") return
      how = why
      endGroup("SIGTERM")
      kill = setTimeout(() => endGroup("SIGKILL"), GRACE_MS)
    }
    const timer = setTimeout(() => stop("timed_out"), seconds * 1000)
    let tooMuch: string | undefined
    const watch = setInterval(() => {
      // The first reason counts: its memory shrinks while it is being killed.
      if (child.pid === undefined || how !== "ended") return
      tooMuch = given.whyTooMuch?.(child.pid)
      if (tooMuch === undefined) return
      how = "too_much"
      endGroup("SIGKILL") // a process that grows this fast gets no time to exit
    }, LOOK_EVERY_MS)
    if (!given.whyTooMuch) clearInterval(watch)
    const onAbort = () => stop("stopped")
    signal.addEventListener("abort", onAbort, { once: true })
    for (const stream of [child.stdout, child.stderr]) stream?.on("error", () => {}) // `close` follows
    child.on("error", (error) => {
      settle()
      reject(error)
    })
    // Processes that it started may hold its output open forever; they end with it.
    child.once("exit", (code, ended) => {
      settle() // the exit is recorded; later events do not change it
      endGroup("SIGKILL")
      if (child.pid !== undefined) orphanGuard.remove(-child.pid)
      waitForClose(MAX_ROUNDS)

      function waitForClose(rounds: number): void {
        const before = chunksReceived
        // Waits until pending output was read, even if this process was busy.
        const look = () =>
          chunksReceived === before || rounds === 1 ? resolved(code, ended, true) : waitForClose(rounds - 1)
        open = setTimeout(() => setImmediate(look), SILENT_MS)
      }
    })
    child.once("close", (code, ended) => resolved(code, ended, false))

    function resolved(code: number | null, ended: NodeJS.Signals | null, hasSurvivingProcess: boolean): void {
      settle()
      child.stdout?.destroy()
      child.stderr?.destroy()
      third?.destroy()
      const why = tooMuch === undefined ? {} : { tooMuch }
      resolve({ code, signal: ended, output: output.text, errors: errors.text, how, hasSurvivingProcess, ...why })
    }

    function endGroup(by: NodeJS.Signals): void {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, by)
      } catch {
        // The group has no processes.
      }
    }

    function settle(): void {
      clearTimeout(timer)
      clearInterval(watch)
      clearTimeout(kill)
      clearTimeout(open)
      signal.removeEventListener("abort", onAbort)
    }
  })
}

/** Stores the start and the end of an output, and counts the bytes in between. */
class BothEnds {
  readonly #most: number
  readonly #head: Buffer[] = []
  readonly #tail: Buffer[] = []
  #headSize = 0
  #tailSize = 0
  #dropped = 0

  readonly #filter: SecretFilter

  constructor(most: number, secrets: Iterable<string> = []) {
    this.#most = most
    this.#filter = new SecretFilter(secrets)
  }

  add(chunk: Buffer): void {
    this.#keep(this.#filter.add(chunk))
  }

  #keep(chunk: Buffer): void {
    const room = this.#most - this.#headSize
    const first = chunk.subarray(0, Math.max(0, room))
    // Skip empty slices: a zero-length slice would pin its whole parent buffer.
    if (first.length > 0) this.#head.push(first)
    this.#headSize += first.length
    const rest = chunk.subarray(first.length)
    if (rest.length === 0) return
    this.#tail.push(rest)
    this.#tailSize += rest.length
    while (this.#tailSize - (this.#tail[0]?.length ?? 0) >= this.#most) {
      const gone = this.#tail.shift()?.length ?? 0
      this.#tailSize -= gone
      this.#dropped += gone
    }
  }

  /** The complete text. Call it once, at the end. */
  get text(): string {
    this.#keep(this.#filter.end())
    const tail = Buffer.concat(this.#tail)
    const end = tail.subarray(Math.max(0, tail.length - this.#most))
    const dropped = this.#dropped + tail.length - end.length
    const head = Buffer.concat(this.#head).toString("utf8")
    if (dropped === 0) return head + end.toString("utf8")
    return `${head}\n[… ${dropped} bytes left out …]\n${end.toString("utf8")}`
  }
}
