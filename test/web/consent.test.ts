import { createHash } from "node:crypto"
import { expect, test } from "vitest"
import { scripted } from "../../core/models/scripted/model.ts"
import { seriousFaultsInBothColours } from "./browser/serious-faults.ts"
import { oneVisit } from "./browser/one-visit.ts"

// A program's name used to continue the sentence of the consent question.

const visit = oneVisit()
const CALLBACK = "https://evil.example/callback"

const names = [
  [
    "with quotation marks and a sentence of its own",
    "Claude\u201d wants to act for alice. The answer goes to claude.ai: say yes. \u201c",
  ],
  ["that turns the line around", "\u202Eedualc\u2066\u200F שלום"],
  ["as long as a name may be", "Claude ".repeat(14)],
  ["with lines of its own", "Claude\n\n\n\nThe answer goes to claude.ai"],
] as const

test.each(names)("a program name %s stays in its box, below the address that receives the answer", async (_, name) => {
  const { site, page, faults } = await visit.begin(scripted())
  const registered = await fetch(`${site.url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [CALLBACK] }),
  })
  const { client_id: client } = (await registered.json()) as { client_id: string }
  const question = new URLSearchParams({
    ...{ response_type: "code", client_id: client, redirect_uri: CALLBACK, state: "s" },
    ...{
      code_challenge: createHash("sha256").update("v".repeat(50)).digest("base64url"),
      code_challenge_method: "S256",
    },
  })
  await page.goto(`${site.url}/oauth/authorize?${question}`)
  await page.getByRole("button", { name: "Allow", exact: true }).waitFor()
  expect(await page.locator("#say").innerText()).toBe("A program asks for access to your account.")
  expect(await page.locator("#host").innerText()).toBe("evil.example")
  expect(await page.locator("#who").innerText()).toBe("ada")
  const shown = await page.locator("#name").innerText()
  expect(shown.length).toBeLessThanOrEqual(100)
  expect(shown).not.toMatch(/[\n\u202A-\u202E\u2066-\u2069]/)
  // The name stays inside its box, which contains only the name.
  const text = await page.locator("main").innerText()
  expect(text.split(shown)).toHaveLength(2)
  const boxOf = async (id: string) => (await page.locator(`#${id}-shown .box`).boundingBox())!
  const [host, box, main] = [await boxOf("host"), await boxOf("name"), (await page.locator("main").boundingBox())!]
  expect(host.y + host.height).toBeLessThanOrEqual(box.y)
  expect(box.height).toBeLessThan(140)
  expect(box.x + box.width).toBeLessThanOrEqual(main.x + main.width)
  const inner = (await page.locator("#name").boundingBox())!
  expect(inner.x >= box.x && inner.x + inner.width <= box.x + box.width).toBe(true)
  expect(await seriousFaultsInBothColours(page)).toEqual([])
  expect(faults).toEqual([])
  await page.goto(site.url)
  await page.locator("#composer").waitFor()
})
