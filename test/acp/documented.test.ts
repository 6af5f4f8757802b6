import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { help } from "../../apps/cli/commands/acp.ts"
import { readProgram } from "../house/sources.ts"

const page = readFileSync(new URL("../../docs/recipes/connect-an-editor.md", import.meta.url), "utf8")

test("the settings on the page are valid JSON, and start an existing command with existing flags", () => {
  const blocks = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!) as unknown)
  expect(blocks).toHaveLength(3)
  for (const block of blocks) {
    const { Pawl } = (block as { agent_servers: { Pawl: { command: string; args: string[] } } }).agent_servers
    const [name, ...flags] = Pawl.args
    expect(Pawl.command).toMatch(/(^|\/)pawl$/)
    expect(name).toBe("acp")
    for (const flag of flags.filter((each) => each.startsWith("--"))) expect(help).toContain(`  ${flag} `)
  }
})

test("servers and other commands do not load the code of the protocol", () => {
  const speaking = Object.entries(readProgram()).filter(([, text]) =>
    /from "@agentclientprotocol\/sdk"|from "(\.\.\/)+(adapters\/)?acp\//.test(text),
  )
  const outside = speaking.map(([path]) => path).filter((path) => !path.startsWith("adapters/acp/"))
  expect(outside.sort()).toEqual([...["apps/cli/commands/acp.ts", "apps/cli/open/editor-places.ts"]])
  const importers = Object.entries(readProgram()).filter(([, text]) => /^import .*commands\/acp\.ts/m.test(text))
  expect(importers).toEqual([]) // the command loads it with `import()`
})
