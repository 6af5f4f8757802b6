/** Writes docs/settings.md anew from the table of settings: `npm run settings`. */
import { writeFileSync } from "node:fs"
import { settingsPage } from "../src/cli/settings/reference.ts"

writeFileSync(new URL("../docs/settings.md", import.meta.url), settingsPage())
