import { join } from "node:path"
import { inject } from "vitest"

/** The published command, built from these sources by `build-package.ts`. */
export const launcher = join(inject("package"), "bin", "pawl.js")

/** A server of `test/support/lives`, built in the same way. */
export const lifeNamed = (name: string): string => join(inject("package"), "dist", `${name}.js`)
