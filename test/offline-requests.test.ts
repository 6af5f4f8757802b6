import { describe, expect, test } from "vitest"
import { drive } from "./offline/drive.ts"
import type { Row } from "./offline/outcome.ts"
import { requests } from "./offline/workspace.ts"

const told = (said: Row[0]) => (typeof said === "string" ? said : said.join(" | "))

describe("said to the workspace's assistant without a language model", () => {
  test.each(requests.map(([said, outcome]) => [told(said), said, outcome] as const))("%s", async (_, said, outcome) => {
    const came = await drive(typeof said === "string" ? [said] : said)
    if ("proposes" in outcome) return expect(came.proposed).toEqual(outcome.proposes)
    expect(came.proposed).toEqual([])
    if ("looks" in outcome) {
      expect(came.looked).toEqual(outcome.looks)
      return expect(came.words).toMatch(outcome.says ?? /./)
    }
    const words = "asks" in outcome ? outcome.asks : outcome.says
    expect(came.words).toMatch(words)
    if ("asks" in outcome) expect(came.words).toContain("?")
  })
})
