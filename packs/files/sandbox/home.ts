import { spawnSync } from "node:child_process"
import { mkdirSync, utimesSync, writeFileSync } from "node:fs"
import { lstat, readdir, rm, stat } from "node:fs/promises"
import { join } from "node:path"

/** Limit for caches and other files in a sandbox's home. A larger home is deleted. */
const MAX_BYTES = 4 * 1024 ** 3
const UNUSED_MS = 30 * 24 * 60 * 60 * 1000
const GIT_MS = 2000

export interface HomeOptions {
  /** The folder with the homes of all work folders, in Pawl's data. */
  readonly homes: string
  /** The id of the work folder. */
  readonly id: string
  /** The machine's git program, and the home folder whose configuration names the author. */
  readonly git?: { readonly program: string; readonly home: string }
  readonly mostBytes?: number
}

/**
 * A home folder for commands in the sandbox. Package managers cache files in it, so that an installation works and the
 * next one is fast. Each work folder has one; it can be deleted at any time.
 */
export class SandboxHome {
  readonly path: string
  /** A git configuration with only the author: helpers and aliases of the person's configuration run programs. */
  readonly gitConfiguration: string
  readonly #options: HomeOptions
  #ready: Promise<void> | undefined

  constructor(options: HomeOptions) {
    this.#options = options
    this.path = join(options.homes, options.id, "home")
    this.gitConfiguration = join(options.homes, options.id, "gitconfig")
  }

  /** Must be called before each command. Checks the size once, because a home with many files takes long. */
  async prepare(): Promise<void> {
    this.#ready ??= this.#tidy()
    await this.#ready
    mkdirSync(this.path, { recursive: true, mode: 0o700 })
    writeFileSync(this.gitConfiguration, this.#authorConfiguration(), { mode: 0o600 })
    const now = new Date()
    utimesSync(join(this.#options.homes, this.#options.id), now, now)
  }

  async #tidy(): Promise<void> {
    const { homes, mostBytes = MAX_BYTES } = this.#options
    for (const name of await readdir(homes).catch(() => [])) {
      const used = await stat(join(homes, name)).catch(() => undefined)
      if (used && Date.now() - used.mtimeMs > UNUSED_MS) await remove(join(homes, name))
    }
    if (await isLarger(this.path, mostBytes)) await remove(this.path)
  }

  #authorConfiguration(): string {
    const { git } = this.#options
    const lines = ["name", "email"].flatMap((field) => {
      const value = git && askGit(git, `user.${field}`)
      return value ? [`\t${field} = "${value.replace(/[\\"]/g, "\\$&")}"`] : []
    })
    return lines.length > 0 ? ["[user]", ...lines, ""].join("\n") : ""
  }
}

function askGit({ program, home }: { program: string; home: string }, name: string): string | undefined {
  const how = { env: { HOME: home }, cwd: "/", timeout: GIT_MS, encoding: "utf8" } as const
  const { status, stdout } = spawnSync(program, ["config", "--global", "--get", name], how)
  const [value] = stdout?.split("\n") ?? []
  return status === 0 ? value : undefined
}

/** Files of a command may not be deletable at the first attempt, which is no reason to refuse the next command. */
const remove = (path: string) => rm(path, { recursive: true, force: true, maxRetries: 2 }).catch(() => {})

async function isLarger(folder: string, most: number): Promise<boolean> {
  let bytes = 0
  const waiting = [folder]
  for (const directory of waiting) {
    for (const entry of await readdir(directory, { withFileTypes: true }).catch(() => [])) {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) waiting.push(path)
      else bytes += (await lstat(path).catch(() => undefined))?.size ?? 0
      if (bytes > most) return true
    }
  }
  return false
}
