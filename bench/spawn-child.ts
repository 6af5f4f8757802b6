import { type ChildProcess, spawn } from "node:child_process"
import { dirname, join } from "node:path"
import type { Part } from "./child.ts"
import type { Place, VariantName } from "./contender.ts"
import type { Numbers } from "./meters.ts"

export interface Ended {
  readonly numbers: Numbers
  /** The time from the start of the process to its first printed line. */
  readonly firstLineMs: number
  readonly signal: NodeJS.Signals | null
}

export interface Child {
  readonly part: Part
  readonly variant: VariantName
  readonly place: Place
  readonly settings?: object
  readonly flags?: readonly string[]
  /** A file to run instead of the child's source. */
  readonly script?: string
}

const SOURCE = join(import.meta.dirname, "child.ts")
const LONGEST_MS = 600_000
const alive = new Set<ChildProcess>()
process.on("exit", () => alive.forEach((child) => child.kill("SIGKILL")))

/** Runs one part of a workload in its own process. Rejects with the child's error output. */
export function spawnChild({
  part,
  variant,
  place,
  settings = {},
  flags = [],
  script = SOURCE,
}: Child): Promise<Ended> {
  const { folder, postgresUrl } = place
  const args = [part, variant, JSON.stringify({ folder, postgresUrl }), JSON.stringify(settings)]
  const from = performance.now()
  // Processes of a run share compiled code, except if the start itself is measured.
  const env = part === "w5" ? process.env : { ...process.env, NODE_COMPILE_CACHE: join(dirname(folder), "compiled") }
  const child = spawn(process.execPath, [...flags, script, ...args], { stdio: ["ignore", "pipe", "pipe"], env })
  alive.add(child)
  const timer = setTimeout(() => child.kill("SIGKILL"), LONGEST_MS)
  let [printed, complained, firstLineMs] = ["", "", Number.NaN]
  child.stdout.on("data", (text) => {
    if (!printed) firstLineMs = performance.now() - from
    printed += String(text)
  })
  child.stderr.on("data", (text) => (complained = (complained + String(text)).slice(-8000)))
  return new Promise((resolve, reject) => {
    child.on("error", reject)
    child.on("close", (code, signal) => {
      alive.delete(child)
      clearTimeout(timer)
      const died = (part === "w0-die" || part === "w7-die") && signal === "SIGKILL"
      if (code !== 0 && !died)
        return reject(new Error(`${part} of ${variant}: ${reasonIn(complained) || (signal ?? `exit ${code}`)}`))
      const numbers = died ? {} : (JSON.parse(printed.trim().split("\n").at(-1) ?? "{}") as Numbers)
      resolve({ numbers, firstLineMs, signal })
    })
  })
}

/** The line of a stack trace with the error. */
function reasonIn(complained: string): string {
  const lines = complained.trim().split("\n")
  return lines.find((line) => /^\s*\w*(Error|CheckFailed)\b.*:/.test(line)) ?? lines.at(-1) ?? ""
}
