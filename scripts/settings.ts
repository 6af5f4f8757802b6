/** Generates docs/reference/settings.md from the table of settings: `npm run settings`. */
import { writeFileSync } from "node:fs"
import { settingsPage } from "../apps/cli/settings/reference.ts"

writeFileSync(new URL("../docs/reference/settings.md", import.meta.url), settingsPage())
