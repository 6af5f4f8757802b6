import { existsSync, readdirSync, readFileSync } from "node:fs"
import { writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import type { Plugin } from "rolldown"

interface Package {
  readonly name: string
  readonly version: string
  readonly license?: string
}

/** Writes the licence texts of bundled packages next to the bundle, as they require. */
export class Licences {
  readonly #root: string
  readonly #folders = new Set<string>()

  constructor(root: string) {
    this.#root = root
  }

  /** Collects the packages that become part of a bundle. */
  plugin(): Plugin {
    const [root, folders] = [this.#root, this.#folders]
    return {
      name: "licences",
      generateBundle(_options, bundle) {
        const modules = Object.values(bundle).flatMap((file) => (file.type === "chunk" ? file.moduleIds : []))
        for (const id of modules) if (id.startsWith(join(root, "node_modules"))) folders.add(packageFolder(id))
      },
    }
  }

  /** Writes the licences of all bundles so far. */
  async write(dist: string): Promise<void> {
    const notices = [...this.#folders].map(noticeOf).sort()
    const text = `Parts of these packages are in the files of this folder.\n\n${notices.join("\n\n")}\n`
    await writeFile(join(dist, "LICENCES.txt"), text)
  }
}

function packageFolder(path: string): string {
  const folder = dirname(path)
  return nameIn(folder) === undefined ? packageFolder(folder) : folder
}

/** Some packages have small package.json files in subfolders, which only set the module type. */
function nameIn(folder: string): Package | undefined {
  const file = join(folder, "package.json")
  if (!existsSync(file)) return undefined
  const found = JSON.parse(readFileSync(file, "utf8")) as Partial<Package>
  return found.name && found.version ? (found as Package) : undefined
}

function noticeOf(folder: string): string {
  const { name, version, license = "" } = nameIn(folder)!
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file))
  const texts = files.map((file) => readFileSync(join(folder, file), "utf8").trim())
  return [`${"=".repeat(80)}\n${name} ${version} (${license})`, ...texts].join("\n\n")
}
