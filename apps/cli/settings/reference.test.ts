import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { readConfig } from "./config.ts"
import { settingsHelp, settingsPage } from "./reference.ts"
import { settingTable } from "./table.ts"

test("docs/reference/settings.md is what the table says; `npm run settings` writes it", () => {
  expect(readFileSync("docs/reference/settings.md", "utf8")).toBe(settingsPage())
})

test("every setting is in the reference and in the help, with its allowed values and its default", () => {
  for (const name of Object.keys(settingTable)) {
    expect(settingsPage()).toContain(`| \`${name}\``)
    expect(settingsHelp()).toContain(`\n  ${name}\n`)
  }
  expect(settingsHelp()).not.toMatch(/undefined|\[object/)
  expect(settingsPage()).toContain(
    "| `PAWL_PORT` | The port; 0 selects a free one. | a whole number from 0 to 65535 | `7295` |",
  )
})

test("what counts without a setting is itself allowed", () => {
  for (const [name, { defaultValue }] of Object.entries(settingTable)) {
    if (defaultValue === undefined || typeof defaultValue === "object") continue
    expect(() => readConfig({ [name]: String(defaultValue) }), name).not.toThrow()
  }
})

test.each(["apps/cli/commands/serve.ts", "Dockerfile", "compose.yaml", "compose.cluster.yaml", "deploy/pawl.service"])(
  "what %s sets or names is in the table",
  (file) => {
    const named = [...readFileSync(file, "utf8").matchAll(/\b(?:PAWL_[A-Z_]+|[A-Z]+_(?:API_KEY|BASE_URL))\b/g)]
    expect(named).not.toEqual([])
    expect(named.map(([name]) => name).filter((name) => !Object.hasOwn(settingTable, name))).toEqual([])
  },
)
