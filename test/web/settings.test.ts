import { mkdirSync, mkdtempSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, inject, test } from "vitest"
import { OutboundPolicy } from "../../core/models/network/outbound-policy.ts"
import { Identity } from "../../core/protocol/account/sign-in.ts"
import { scripted } from "../../core/models/scripted/model.ts"
import { makeShop } from "../analyst/shop.ts"
import { Peer } from "../support/server/socket.ts"
import { PlayedAuthority } from "../mcp/played-authority.ts"
import { PlayedServer } from "../mcp/played-server.ts"
import { oneVisit } from "./browser/one-visit.ts"
import { seriousFaults } from "./browser/serious-faults.ts"
import { Site } from "./browser/site.ts"
import { go, reopen } from "./browser/talk.ts"

const root = mkdtempSync(join(tmpdir(), inject("testRun"), "databases-"))
mkdirSync(join(root, "shared"))
makeShop(join(root, "shared", "shop.db"))

const visit = oneVisit({ reach: new OutboundPolicy(["127.0.0.1"]), sqliteRoot: root })

test("a token is shown once, allows what was chosen, and stops working when it is revoked", async () => {
  const { site, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/tokens")
  await page.getByLabel("What is it for?").fill("Backup")
  // Permissions beyond reading and chatting, and more than three months, have to be chosen.
  const ticked = page.locator("label", { has: page.locator("input:checked") })
  expect((await ticked.allInnerTexts()).map((text) => text.trim())).toEqual(["Read", "Send messages"])
  expect(await page.getByLabel("Expiration").inputValue()).toBe("90")
  await page.getByRole("checkbox", { name: "Send messages" }).uncheck()
  await page.getByRole("button", { name: "Create token" }).click()
  await page.getByText("It is not shown again").waitFor()
  const token = await page.locator("code").innerText()
  const ask = (path: string, method = "GET") =>
    site.face.fetch(new Request(`http://localhost${path}`, { method, headers: { authorization: `Bearer ${token}` } }))
  expect((await ask("/api/models")).status).toBe(200)
  expect((await ask("/api/conversations", "POST")).status).toBe(403)
  const { credential } = Identity.parse(await (await ask("/api/auth/me")).json())
  expect((Date.parse(credential.expiresAt ?? "") - Date.now()) / (24 * 60 * 60_000)).toBeCloseTo(90, 1)

  await reopen(page)
  await page.getByText("Backup").waitFor()
  expect(await page.content()).not.toContain(token)
  const entry = page.getByRole("listitem").filter({ hasText: "Backup" })
  await entry.getByRole("button", { name: "Revoke" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click()
  await expect.poll(() => page.getByText("Backup").count()).toBe(0)
  expect((await ask("/api/models")).status).toBe(401)
  expect(faults).toEqual([])
})

test("lines to paste contain this server's address, and a token with only the scopes that the program needs", async () => {
  const { site, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connect")
  await page.getByRole("button", { name: "OpenAI" }).click()
  const lines = page.getByRole("region", { name: "Connect" }).locator("pre")
  expect(await lines.innerText()).toContain(`OPENAI_BASE_URL=${new URL(page.url()).origin}/v1`)
  await page.getByRole("button", { name: "Add a token" }).click()
  await page.getByText("It is not shown again").waitFor()
  const [, token] = /OPENAI_API_KEY=(pawl_\S{20,})/.exec(await lines.innerText()) ?? []
  const ask = (path: string, method = "GET") =>
    site.face.fetch(new Request(`http://localhost${path}`, { method, headers: { authorization: `Bearer ${token}` } }))
  expect([(await ask("/v1/models")).status, (await ask("/api/tokens", "POST")).status]).toEqual([200, 403])
  expect(Identity.parse(await (await ask("/api/auth/me")).json()).credential.expiresAt).toBeTypeOf("string")

  await page.getByRole("button", { name: "Terminal" }).click()
  await page.getByRole("button", { name: "OpenAI" }).click()
  expect(await page.content()).not.toContain(token)
  expect(faults).toEqual([])
})

test("an MCP server is added, each of its tools is allowed or not, and a changed tool shows its previous version", async () => {
  const echo = { name: "echo", description: "Says it again." }
  await using server = await PlayedServer.open([echo])
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings/mcp")
  await page.getByLabel("Name (lowercase").fill("notes")
  await page.getByLabel("Address").fill(server.url)
  await page.getByRole("button", { name: "Add server" }).click()
  const part = page.getByRole("region", { name: "notes" })
  await part.getByLabel("Permission for echo").selectOption("read")
  await expect.poll(() => part.getByLabel("Permission for echo").inputValue()).toBe("read")

  server.tools = [{ ...echo, description: "Says it <b>aloud</b>." }]
  await part.getByRole("button", { name: "Refresh" }).click()
  await part.getByText("Changed, not allowed yet").waitFor()
  expect(await part.innerText()).toMatch(/Before: Says it again\.[^]*Now: Says it <b>aloud<\/b>\./)
  await part.getByRole("button", { name: "Allow this version" }).click()
  await part.getByLabel("Permission for echo").waitFor()
  await part.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await expect.poll(() => part.count()).toBe(0)
  expect(faults).toEqual([])
})

test("a form error is shown at its field, not as a toast", async () => {
  const { page } = await visit.begin(scripted())
  await go(page, "/settings/mcp")
  const name = page.getByLabel("Name (lowercase")
  const address = page.getByLabel("Address")
  const told = async (field: typeof name) => {
    await expect.poll(() => field.getAttribute("aria-invalid")).toBe("true")
    const id = await field.getAttribute("aria-describedby")
    return page.locator(`[id="${id}"]`).innerText()
  }
  await name.fill("notes")
  await address.fill("http://10.0.0.1/mcp")
  await page.getByRole("button", { name: "Add server" }).click()
  expect(await told(address)).toContain("10.0.0.1 is not a public address")
  expect(await page.locator("[data-toast]").count()).toBe(0)
  expect(await seriousFaults(page)).toEqual([])
  // The error of a corrected field is gone.
  await name.fill("Not a name!")
  await page.getByRole("button", { name: "Add server" }).click()
  expect(await told(name)).toMatch(/./)
  expect(await address.getAttribute("aria-invalid")).toBeNull()

  await go(page, "/library")
  const collection = page.getByLabel("Collection name")
  await collection.fill("Papers")
  await page.getByRole("button", { name: "Create" }).click()
  await page.getByRole("heading", { name: "Papers" }).waitFor()
  await collection.fill("Papers")
  await page.getByRole("button", { name: "Create" }).click()
  expect(await told(collection)).toContain("already")
  expect(await page.locator("[data-toast]").count()).toBe(0)
})

test("a person signs in to an MCP server that requires it, edits it, and allows a tool to be repeated", async () => {
  const echo = { name: "echo", description: "Says it again.", annotations: { idempotentHint: true } }
  await using there = await PlayedAuthority.open([echo])
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings/mcp")
  await page.getByLabel("Name (lowercase").fill("notes")
  await page.getByLabel("Address").fill(there.server.url)
  await page.getByRole("button", { name: "Add server" }).click()
  await page.getByRole("region", { name: "notes" }).getByRole("button", { name: "Sign in" }).click()
  await page.getByRole("heading", { name: "You are signed in" }).waitFor()
  expect(page.url()).not.toContain("code=")
  await page.getByRole("link", { name: "Go to the settings" }).click()
  const part = page.getByRole("region", { name: "notes" })
  await part.getByRole("button", { name: "Sign out" }).waitFor()
  const again = part.getByRole("checkbox", { name: /Run again after a crash/ })
  await again.click()
  await expect.poll(() => again.isChecked()).toBe(true)

  await part.getByRole("button", { name: "Edit" }).click()
  await part.getByLabel("Name (lowercase").fill("papers")
  await part.getByRole("button", { name: "Save" }).click()
  const renamed = page.getByRole("region", { name: "papers" })
  await renamed.getByRole("button", { name: "Sign out" }).click()
  await expect.poll(() => renamed.getByRole("button", { name: "Sign out" }).count()).toBe(0)
  await renamed.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await expect.poll(() => renamed.count()).toBe(0)
  // The page was left only for the address where the person signs in.
  expect(faults).toEqual([expect.stringContaining(`left: ${there.base}/authorize?`)])
})

test("a custom endpoint is added, edited without typing its key again, and removed", async () => {
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings")
  await page.route(/\/api\/models\?.*refresh=true/, async (route) => {
    const answer = await route.fetch()
    const failed = { provider: "mine", state: "failed", models: 0, leftOut: 0, answeredAt: null }
    const endpoints = [{ ...failed, problem: "connection refused" }]
    await route.fulfill({ response: answer, json: { ...(await answer.json()), endpoints } })
  })
  const part = page.getByRole("region", { name: "Your endpoints" })
  await part.getByRole("button", { name: "Add endpoint" }).click()
  await part.getByLabel("Name (lowercase").fill("mine")
  await part.getByLabel("Address").fill("http://127.0.0.1:9/v1")
  await part.getByLabel("API key").fill("sk-very-secret")
  await part.getByLabel("Headers").fill("X-Team: research")
  await part.getByLabel("Models").fill("org/large\n")
  await part.getByRole("button", { name: "Save" }).click()
  await part.getByText("http://127.0.0.1:9/v1 · API key saved").waitFor()
  // Its models were requested, and it does not answer.
  await part
    .getByRole("alert")
    .getByText(/^Saved, but this endpoint does not respond: connection refused/)
    .waitFor()

  await part.getByRole("button", { name: "Edit" }).click()
  await part.getByLabel("Models").fill("org/large\norg/small")
  await part.getByRole("button", { name: "Save" }).click()
  await expect.poll(() => part.getByLabel("Models").count()).toBe(0)
  await part.getByText("API key saved").waitFor()
  await part.getByRole("button", { name: "Edit" }).click()
  expect(await part.getByLabel("Models").inputValue()).toBe("org/large\norg/small")
  expect(await part.getByText("(saved: x-team;").count()).toBe(1)
  await part.getByRole("button", { name: "Remove" }).click()
  await expect.poll(() => part.getByText("127.0.0.1:9").count()).toBe(0)
  expect(await page.content()).not.toContain("sk-very-secret")
  await page.unroute(/\/api\/models\?.*refresh=true/)
  expect(faults).toEqual([])
})

test("a personal key is stored and removed, and no answer or page ever contains it", async () => {
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings")
  const heard: string[] = []
  page.on(
    "response",
    (response) =>
      void response.text().then(
        (text) => heard.push(text),
        () => {},
      ),
  )
  const provider = page.getByRole("listitem").filter({ hasText: /^Anthropic/ })
  await provider.getByRole("button", { name: "Set up" }).click()
  await provider.getByLabel("API key", { exact: true }).fill("sk-very-secret")
  await provider.getByRole("button", { name: "Save" }).click()
  await provider.getByText("Set up by you").waitFor()
  await reopen(page)
  await provider.getByText("Set up by you").waitFor()
  expect(await page.content()).not.toContain("sk-very-secret")
  expect(heard.join()).not.toContain("sk-very-secret")
  await provider.getByRole("button", { name: "Remove" }).click()
  await provider.getByText("Not set up").waitFor()
  expect(faults).toEqual([])
})

test("other browsers are signed out, and show the sign-in page", async () => {
  const { site, page, faults } = await visit.begin(scripted())
  const other = await site.visit()
  await go(page, "/settings/sessions")
  await page.getByText("This browser").waitFor()
  await page.getByRole("button", { name: "Sign out all other browsers" }).click()
  await expect.poll(() => page.getByRole("main").getByRole("button", { name: "Sign out" }).count()).toBe(0)
  await other.page.reload()
  await other.page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  await expect.poll(() => page.getByText("This browser").count()).toBe(1)
  expect(faults).toEqual([])
})

test("a database is connected, tested and removed, and its password is never shown again", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connections")
  await page.getByText("No databases yet.").waitFor()
  const given = { Name: "Shop", Host: "127.0.0.1", Port: "1", Database: "shop", User: "ada", Password: "very-secret" }
  for (const [label, value] of Object.entries(given)) await page.getByLabel(label, { exact: true }).fill(value)
  // The connection can be tested before it is stored.
  const form = page.locator("form", { has: page.getByRole("button", { name: "Connect", exact: true }) })
  await form.getByRole("button", { name: "Test" }).click()
  await expect.poll(() => form.getByRole("status").innerText()).toMatch(/ECONNREFUSED/)
  expect((await ada.get("/api/connections")).body.items).toEqual([])
  await page.getByLabel("Port", { exact: true }).fill("2")
  expect(await form.getByRole("status").innerText()).toBe("")
  // An answer that arrives after the fields changed does not apply to them.
  const held = Promise.withResolvers<void>()
  await page.route("**/api/connections/try", async (route) => {
    await held.promise
    await route.continue()
  })
  const tried = form.getByRole("button", { name: "Test" })
  await tried.click()
  await expect.poll(() => tried.isDisabled()).toBe(true)
  await page.getByLabel("Port", { exact: true }).fill("1")
  held.resolve()
  await expect.poll(() => tried.isDisabled()).toBe(false)
  expect(await form.getByRole("status").innerText()).toBe("")
  await page.unroute("**/api/connections/try")
  await page.getByRole("button", { name: "Connect", exact: true }).click()
  const entry = page.getByRole("listitem").filter({ hasText: "ada@127.0.0.1:1/shop" })
  // It is tested at once, and again on request.
  await expect.poll(() => entry.getByRole("status").innerText()).not.toBe("")
  await entry.getByRole("button", { name: "Test" }).click()
  await expect.poll(() => entry.getByRole("status").innerText()).not.toBe("")
  expect(await entry.getByRole("status").innerText()).not.toContain("Connected")
  await reopen(page)
  await entry.waitFor()
  expect(await page.content()).not.toContain("very-secret")
  await entry.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click()
  await page.getByText("No databases yet.").waitFor()
  expect(faults).toEqual([])
})

test("a connection is edited in place: its password is asked for again only if it would go to another server", async () => {
  const { ada, page, faults } = await visit.begin(scripted())
  const place = { kind: "postgres", host: "127.0.0.1", port: 1, database: "shop", user: "ada", password: "very-secret" }
  const { body } = await ada.post("/api/connections", { name: "Shop", ...place })
  await go(page, "/settings/connections")
  const sent: Record<string, unknown>[] = []
  page.on("request", (request) => request.method() === "PATCH" && sent.push(request.postDataJSON()))
  const dialog = page.getByRole("dialog", { name: "Edit connection" })
  const edit = () => page.getByRole("button", { name: "Edit", exact: true }).click()
  const save = dialog.getByRole("button", { name: "Save" })
  await edit()
  const fields = dialog.getByRole("textbox")
  const values = () => fields.evaluateAll((all) => all.map((each) => (each as never as { value: string }).value))
  await expect.poll(values).toEqual(["Shop", "127.0.0.1", "shop", "ada", ""])
  expect(await save.isDisabled()).toBe(true) // nothing was changed
  await dialog.getByLabel("Name").fill("The shop")
  await dialog.getByLabel("Database").fill("shop2")
  await save.click()
  await page.getByText("ada@127.0.0.1:1/shop2").waitFor()
  await dialog.waitFor({ state: "detached" })
  await edit()
  await dialog.getByLabel("Port").fill("2")
  await dialog.getByText("A stored password is not sent to another server").waitFor()
  await save.click()
  expect(await dialog.getByLabel("Password (enter again)").evaluate((each) => each.matches(":invalid"))).toBe(true)
  await dialog.getByLabel("Password (enter again)").fill("another-secret")
  await save.click()
  await page.getByText("ada@127.0.0.1:2/shop2").waitFor()
  await dialog.waitFor({ state: "detached" })
  await edit()
  await dialog.getByLabel("Encryption").selectOption("no-verify")
  await dialog.getByLabel("No password needed").check()
  await save.click()
  await dialog.waitFor({ state: "detached" })
  expect(sent).toEqual([
    { name: "The shop", database: "shop2" },
    { port: 2, password: "another-secret" },
    { ssl: "no-verify", password: "" },
  ])
  expect((await ada.get(`/api/connections/${body.id}`)).body).toMatchObject({
    name: "The shop",
    port: 2,
    ssl: "no-verify",
  })
  await page.getByRole("button", { name: "Remove" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
  expect((await ada.get("/api/connections")).body.items).toHaveLength(1)
  expect(faults).toEqual([])
})

test("a database file is connected, and its tables are shown", async () => {
  const { page, faults } = await visit.begin(scripted())
  await go(page, "/settings/connections")
  await page.getByLabel("Name", { exact: true }).fill("Shop")
  await page.getByLabel("Type").selectOption("sqlite")
  await page.getByLabel("File on the server").fill("shared/shop.db")
  await page.getByRole("button", { name: "Connect", exact: true }).click()
  await page.getByText(/Connected \(\d+ ms\)/).waitFor()
  await page.getByRole("button", { name: "Tables" }).click()
  const tables = page.getByRole("group", { name: "Tables and columns" })
  await tables.getByText("purchase").first().waitFor()
  await page.getByText("2 tables, read").waitFor()
  const again = page.waitForRequest((request) => request.url().endsWith("/schema?refresh=true"))
  await page.getByRole("button", { name: "Refresh" }).click()
  await again
  await tables.getByText("customer").first().waitFor()
  expect(faults).toEqual([])
})

test("a token that claims another token's device is shown, and becomes that device once allowed", async () => {
  await using site = await Site.open({ model: scripted() })
  const person = await site.face.store.people.ensure("ada", 0)
  const token = (name: string) => site.face.store.people.createToken(person, ["read", "chat"], 0, { name })
  const [first, second] = [await token("old laptop"), await token("new laptop")]
  const hello = { type: "hello", deviceId: "laptop", offers: ["workspace"] }
  using old = await Peer.open(site.url, { authorization: `Bearer ${first.token}` })
  old.send(hello)
  await old.next("hello")
  using asker = await Peer.open(site.url, { authorization: `Bearer ${second.token}` })
  asker.send(hello)
  await asker.next("error")
  const { page, faults } = await site.visit({}, "/settings/devices")
  const request = page.getByRole("listitem").filter({ hasText: "new laptop" })
  await request.getByRole("button", { name: "Allow" }).click()
  await request.waitFor({ state: "detached" })
  asker.send(hello)
  await asker.next("hello")
  expect(faults).toEqual([])
})

test("devices and usage show the current state", async () => {
  const { site, page, faults } = await visit.begin(scripted())
  await go(page, "/settings/devices")
  await page.getByText("No device is connected.").waitFor()
  await expect.poll(() => page.locator("pre").innerText()).toContain(`npx pawl device --server ${site.url}`)
  await page.getByRole("link", { name: "Usage" }).click()
  await page.getByText("0 model calls").waitFor()
  expect(faults).toEqual([])
})

test("a person can export all their data, and erase it after typing their name", async () => {
  await using site = await Site.open({ model: scripted() })
  const ada = await site.ada()
  await ada.post("/api/workspace/tasks", { title: "Buy milk" })
  await ada.post("/api/workspace/notes", { title: "Long", content: "x".repeat(300 * 1024) })
  const { page } = await site.visit({}, "/settings/data")
  const storage = page.locator("section", { has: page.getByRole("meter", { name: "Storage used" }) })
  await storage.getByText(/^30\d kB of 2 GB used$/).waitFor()
  await storage.getByText("Tasks and notes").waitFor()
  const downloading = page.waitForEvent("download")
  await page.getByRole("button", { name: "Export my data" }).click()
  const lines = readFileSync(await (await downloading).path(), "utf8")
    .trim()
    .split("\n")
  expect(lines.some((line) => line.includes("Buy milk"))).toBe(true)
  expect(JSON.parse(lines.at(-1) ?? "")).toMatchObject({ kind: "end" })

  await page.getByRole("button", { name: "Delete everything" }).click()
  const dialog = page.getByRole("dialog")
  const act = dialog.getByRole("button", { name: "Delete everything" })
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByRole("textbox").fill("Ada")
  expect(await act.isDisabled()).toBe(true)
  await dialog.getByRole("textbox").fill("ada")
  await act.click()
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  expect((await ada.get("/api/auth/me")).status).toBe(401)
})
