import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { promisify } from "node:util"
import type { TerminalAgent } from "./agents.ts"

const run = promisify(execFile)

export interface Installed {
  readonly bin: string
  readonly version: string
  /** The size of its packages on disk. */
  readonly megabytes: number
}

/** Installs an agent from npm into its own folder, once. */
export async function install({ name, from }: TerminalAgent, out: string): Promise<Installed> {
  const root = resolve(import.meta.dirname, "../..")
  if (!from) {
    const { version } = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as { version: string }
    return { bin: join(root, "bin/pawl.js"), version, megabytes: await size(join(root, "node_modules")) }
  }
  const folder = join(out, name.replaceAll(" ", "-"))
  const bin = join(folder, "node_modules/.bin", from.bin)
  if (!existsSync(bin)) {
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, "package.json"), JSON.stringify({ private: true }))
    await run("npm", ["install", "--no-audit", "--no-fund", `${from.package}@${from.version}`], { cwd: folder })
  }
  return { bin, version: from.version, megabytes: await size(join(folder, "node_modules")) }
}

const size = async (folder: string): Promise<number> => Number((await run("du", ["-sm", folder])).stdout.split("\t")[0])
