import { mkdir, readFile, writeFile } from "node:fs/promises"
import { join, resolve } from "node:path"
import { parseArgs } from "node:util"
import { AGENTS } from "./agents.ts"
import { install } from "./install.ts"
import { Provider } from "./provider.ts"
import { afterCut, type Aftermath } from "./after-cut.ts"

/**
 * Measures how terminal agents handle a power cut: in the middle of a command, and in the middle of a reply. Each is
 * installed from npm and runs without a user, against a provider on this machine; see README.md.
 */
const { values } = parseArgs({ options: { only: { type: "string" } } })
const out = resolve(import.meta.dirname, "../out/peers")
await mkdir(out, { recursive: true })
const provider = await Provider.open()
const found: (Aftermath & { readonly name: string; readonly version: string; readonly megabytes: number })[] = []
for (const agent of AGENTS.filter(({ name }) => values.only === undefined || name === values.only)) {
  try {
    console.error(`${agent.name} …`)
    const installed = await install(agent, out)
    found.push({ name: agent.name, ...installed, ...(await afterCut(agent, installed.bin, provider)) })
  } catch (error) {
    console.error(`${agent.name}: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}
provider.close()
const kept = join(out, "results.json")
const before = values.only === undefined ? [] : await readFile(kept, "utf8").then(JSON.parse, () => [])
const names = new Set(found.map(({ name }) => name))
await writeFile(
  kept,
  JSON.stringify([...before.filter(({ name }: { name: string }) => !names.has(name)), ...found], null, 2),
)
for (const { name, version, megabytes, ...aftermath } of found) {
  console.log(`\n${name} ${version}, installed ${megabytes} MB`)
  for (const [key, value] of Object.entries(aftermath)) if (key !== "bin") console.log(`  ${key}: ${String(value)}`)
}
