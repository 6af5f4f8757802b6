import { existsSync, readFileSync } from "node:fs"
import { describe, expect, test } from "vitest"
import { NO_TOKEN, programs } from "../../apps/web/settings/connect/programs.ts"

const docs = new URL("../../docs/", import.meta.url)
const page = readFileSync(new URL("recipes/connect-other-programs.md", docs), "utf8")

describe.each(programs)("the lines for $path", (program) => {
  test("are the same in docs/recipes/connect-other-programs.md and in the page's settings", () => {
    const block = `\n${program.lines("http://127.0.0.1:7295", NO_TOKEN)}\n\`\`\``
    expect(page).toContain(block)
  })

  test("contain the address and the token, and link to a page that exists", () => {
    const lines = program.lines("https://pawl.example", "pawl_secret")
    expect([lines.includes("https://pawl.example"), lines.includes("pawl_secret")]).toEqual([true, true])
    expect(existsSync(new URL(`${program.docs}.md`, docs))).toBe(true)
  })

  test("request only the scopes to chat and to approve", () => {
    expect(["read", "chat", "approve"]).toEqual(expect.arrayContaining([...program.scopes]))
  })
})
