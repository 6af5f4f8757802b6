import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { SOURCE_FOLDERS } from "../scripts/entries.ts"
import type { Run } from "./run-workload.ts"
import { runWorkload } from "./run-workload.ts"

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame; readonly children?: readonly number[] }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

interface Frame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

const root = join(import.meta.dirname, "..")

/** Runs one workload under Node's sampling profiler and reports the CPU time by thread. */
export async function profile(run: Omit<Run, "flags">): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "pawl-profile-"))
  try {
    const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=250"]
    const numbers = await runWorkload({ ...run, flags, isFromSource: true })
    const profiles = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), "utf8")) as Profile)
    const reports = profiles.map(describe).sort((a, b) => b.totalMs - a.totalMs)
    const head = `${run.variant} ${run.workload}, slowed by the profiler: ${JSON.stringify(numbers)}`
    return [head, ...reports.filter(({ totalMs }) => totalMs > 50).map(({ text }) => text)].join("\n\n")
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function describe({ nodes, samples, timeDeltas }: Profile): { totalMs: number; text: string } {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id] as const)))
  const [self, inclusive, files] = [new Tally(), new Tally(), new Tally()]
  let total = 0
  samples.forEach((id, i) => {
    const frame = byId.get(id)?.callFrame
    const spent = timeDeltas[i] as number
    if (!frame || frame.functionName === "(idle)") return
    total += spent
    self.add(nameOf(frame), spent)
    files.add(fileOf(frame), spent)
    const stack = new Set<string>()
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const above = byId.get(at)?.callFrame
      if (above && isOurs(fileOf(above))) stack.add(nameOf(above))
    }
    for (const name of stack) inclusive.add(name, spent)
  })
  const text = [
    `One thread, ${Math.round(total / 1000)} ms of CPU`,
    `self time by function\n${self.top(30, total)}`,
    `self time by file or package\n${files.top(20, total)}`,
    `time of our functions with all they call\n${inclusive.top(30, total)}`,
  ].join("\n\n")
  return { totalMs: total / 1000, text }
}

class Tally {
  readonly #spent = new Map<string, number>()

  add(name: string, spent: number): void {
    this.#spent.set(name, (this.#spent.get(name) ?? 0) + spent)
  }

  top(count: number, total: number): string {
    const sorted = [...this.#spent].sort(([, a], [, b]) => b - a).slice(0, count)
    return sorted.map(([name, spent]) => `${((100 * spent) / total).toFixed(1).padStart(6)} %  ${name}`).join("\n")
  }
}

function nameOf(frame: Frame): string {
  const name = frame.functionName || "(anonymous)"
  return frame.url ? `${name}  ${fileOf(frame)}:${frame.lineNumber + 1}` : name
}

const isOurs = (file: string): boolean => SOURCE_FOLDERS.some((folder) => file.startsWith(`${folder}/`))

function fileOf({ url, functionName }: Frame): string {
  if (!url) return functionName.startsWith("(") ? functionName : "native code"
  if (!url.startsWith("file:")) return url
  const path = relative(root, fileURLToPath(url))
  return /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? path
}
