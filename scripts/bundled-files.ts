import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Plugin } from "rolldown"

/** The files that are read from packages by their path. */
const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  "pdfjs-dist/package.json": ["cmaps", "standard_fonts", "LICENSE"],
}

/**
 * `import.meta.resolve("package/file")` finds a file of an installed package. A bundled package has no folder, so the
 * file is copied to `packages/package/file` next to the bundle and found there.
 */
export function bundledFiles(isInstalled: (id: string) => boolean): Plugin {
  return {
    name: "bundled-files",
    transform(code) {
      const moved = code.replaceAll(/import\.meta\.resolve\("([^"]+)"\)/g, (call, specifier: string) => {
        if (isInstalled(specifier)) return call
        for (const [name, path] of filesOf(specifier))
          this.emitFile({ type: "asset", fileName: `packages/${name}`, source: readFileSync(path) })
        return `new URL("./packages/${specifier}", import.meta.url).href`
      })
      // No source maps are built.
      return moved === code ? null : { code: moved, map: null }
    },
  }
}

/** The files to copy: the name in the specifier, and the path. */
function filesOf(specifier: string): [name: string, path: string][] {
  const path = fileURLToPath(import.meta.resolve(specifier))
  const wanted = FOLDERS[specifier]
  if (!wanted && specifier.endsWith("/package.json")) throw new Error(`scripts/bundled-files.ts: what of ${specifier}?`)
  const [folder, name] = [dirname(path), dirname(specifier)]
  const inside = (wanted ?? []).flatMap((each) => filesIn(join(folder, each)))
  return [[specifier, path], ...inside.map((file): [string, string] => [join(name, relative(folder, file)), file])]
}

const filesIn = (path: string): string[] =>
  statSync(path).isFile() ? [path] : readdirSync(path).flatMap((name) => filesIn(join(path, name)))
