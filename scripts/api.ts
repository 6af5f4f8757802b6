/** Regenerates docs/reference/surface.md, so that a change of the public API shows in its diff: `npm run api`. */
import { writeFileSync } from "node:fs"
import { readSurface } from "./surface.ts"

const { text, faults } = readSurface()
writeFileSync(new URL("../docs/reference/surface.md", import.meta.url), text)
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length > 0 ? 1 : 0
