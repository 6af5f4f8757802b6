/** Writes docs/api/surface.md anew, so that a change of what programs import shows in its diff: `npm run api`. */
import { mkdirSync, writeFileSync } from "node:fs"
import { readSurface } from "./surface.ts"

const { text, faults } = readSurface()
mkdirSync(new URL("../docs/api/", import.meta.url), { recursive: true })
writeFileSync(new URL("../docs/api/surface.md", import.meta.url), text)
for (const fault of faults) process.stderr.write(`${fault}\n`)
process.exitCode = faults.length > 0 ? 1 : 0
