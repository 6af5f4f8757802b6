import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { inject } from "vitest"

/** Stands in for `src/children/beside-module.ts` in tests: children and threads are started as they are published. */
export const besideModule = (_address: string, name: string): URL =>
  pathToFileURL(join(inject("package"), "dist", `${name}.js`))
