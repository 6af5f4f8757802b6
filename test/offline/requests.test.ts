import { describe, expect, test } from "vitest"
import { drive } from "./drive.ts"
import type { Row } from "./outcome.ts"
import { heldOut } from "./held-out.ts"
import { strangers } from "./strangers.ts"
import { requests } from "./workspace.ts"

const told = (said: Row[0]) => (typeof said === "string" ? said : said.join(" | "))

describe("said to the workspace's assistant without a language model", () => {
  test.each([...requests, ...heldOut, ...strangers].map(([said, outcome]) => [told(said), said, outcome] as const))(
    "%s",
    async (_, said, outcome) => {
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
    },
  )

  const proposing = [...requests, ...heldOut, ...strangers].flatMap(([said, outcome]) =>
    "proposes" in outcome ? [[told(said), said] as const] : [],
  )

  test.each(proposing)("agreed to or not it comes to an end, and nothing is proposed twice: %s", async (_, said) => {
    for (const decision of ["[yes]", "[no]"]) {
      const so = typeof said === "string" ? [said] : [...said]
      const proposed = [...(await drive(so)).proposed]
      for (let turn = 0; turn < 3; turn++) {
        so.push(decision)
        const came = await drive(so)
        for (const each of came.proposed) expect(proposed).not.toContain(each)
        if (came.proposed.length > 0) expect(decision).toBe("[yes]")
        proposed.push(...came.proposed)
        if (came.proposed.length === 0) {
          expect(came.words).toMatch(decision === "[yes]" ? /created|updated|deleted|added/ : /^All right/)
          break
        }
      }
    }
  })
})

test("an error of a tool ends it, too", async () => {
  const already = await drive(["mark the dentist as not done"])
  expect([already.proposed, already.words]).toEqual([[], expect.stringContaining("Nothing would change")])
  expect([already.calls, already.looked.length]).toEqual([3, 1])
  const nowhere = await drive(["move buy milk into the Moon project"])
  expect([nowhere.proposed, nowhere.words]).toEqual([[], expect.stringContaining("There is no project")])
})
