/** Regenerates docs/reference/openapi.json, so that a change of the contract shows in its diff: `npm run openapi`. */
import { writeFileSync } from "node:fs"
import manifest from "../package.json" with { type: "json" }
import { toOpenApi } from "../core/server/routes/docs.ts"

const file = new URL("../docs/reference/openapi.json", import.meta.url)
writeFileSync(file, `${JSON.stringify(toOpenApi(manifest.version), undefined, 2)}\n`)
