import { join } from "node:path"
import { openPageFiles, type PageFiles } from "../server/routes/page.ts"

/** The folder of a bundle; in a checkout `dist` of the package `pawl`. */
const DIST = import.meta.url.endsWith(".ts") ? join(import.meta.dirname, "../../dist") : import.meta.dirname

interface BuiltFiles {
  readonly page: PageFiles | undefined
  readonly docs: PageFiles | undefined
}

/** The page and the documentation; undefined if they were not built. */
export const openBuiltFiles = (): BuiltFiles => ({
  page: openPageFiles(join(DIST, "web")),
  docs: openPageFiles(join(DIST, "docs")),
})
