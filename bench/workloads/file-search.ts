import { spawnSync } from "node:child_process"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Answer, CallContext } from "../../core/engine/definition/tool.ts"
import { openFolder } from "../../packs/files/folder/local-folder.ts"
import { searchInFiles } from "../../packs/files/search-in-files.ts"
import type { Place } from "../contender.ts"
import { check, cpuMs, type Numbers } from "../meters.ts"
import type { Sizes } from "../sizes.ts"

const NEEDLE = "here-it-is"
const IN_A_DIRECTORY = 10
const IN_HOW_MANY = 3
/** The unit of CPU times in `/proc`: hundredths of a second on all architectures of Linux. */
const TICK_MS = 10

/**
 * W14: `search_in_files` over many small files, by CPU time. Its floor is `grep -rn`, including the start of its
 * process.
 */
export async function fileSearch(isFloor: boolean, { folder }: Place, sizes: Sizes["w14"]): Promise<Numbers> {
  const root = join(folder, "searched")
  fill(root, sizes.files)
  const search = isFloor ? grep(root) : await ours(root)
  const clock = isFloor ? childrenMs : cpuMs
  for (let warm = 0; warm < sizes.searches / 4; warm++) await search()
  const from = clock()
  for (let count = 0; count < sizes.searches; count++) {
    const found = await search()
    check(found === IN_HOW_MANY, `lines found: ${found} of ${IN_HOW_MANY}`)
  }
  return { searchMs: (clock() - from) / sizes.searches }
}

function fill(root: string, files: number): void {
  for (let file = 0; file < files; file++) {
    const directory = join(root, `part-${Math.floor(file / IN_A_DIRECTORY)}`)
    if (file % IN_A_DIRECTORY === 0) mkdirSync(directory, { recursive: true })
    const holds = file % Math.floor(files / IN_HOW_MANY) === 0 ? NEEDLE : "nothing"
    writeFileSync(
      join(directory, `file-${file}.txt`),
      `${`words of file ${file}, line by line\n`.repeat(15)}${holds}\n`,
    )
  }
}

type Search = () => Promise<number>

async function ours(root: string): Promise<Search> {
  const tool = searchInFiles(openFolder(root))
  const context = { state: {}, signal: new AbortController().signal } as unknown as CallContext
  return async () => linesOf(((await tool.run({ pattern: NEEDLE }, context)) as Answer).text)
}

const grep =
  (root: string): Search =>
  async () =>
    linesOf(spawnSync("grep", ["-rn", NEEDLE, "."], { cwd: root, encoding: "utf8" }).stdout ?? "")

const linesOf = (text: string): number => text.split("\n").filter((line) => line.includes(NEEDLE)).length

/** The CPU time of ended children; NaN if the system does not report it. */
function childrenMs(): number {
  try {
    const fields = readFileSync("/proc/self/stat", "utf8").split(") ")[1]?.split(" ") ?? []
    return (Number(fields[13]) + Number(fields[14])) * TICK_MS
  } catch {
    return Number.NaN
  }
}
