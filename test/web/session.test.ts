import { createHash } from "node:crypto"
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { expect, test } from "vitest"
import { scripted } from "../../core/testing.ts"
import { defaultScopes } from "../../core/protocol/account/sign-in.ts"
import { CLIENT, OidcProvider } from "../people/oidc-provider.ts"
import { Site } from "./browser/site.ts"

test("another server on the same machine receives the browser's cookie, and cannot use it", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page, context } = await site.visit()
  const seen: string[] = []
  const neighbour = createServer(({ headers }, response) => {
    seen.push(headers.cookie ?? "")
    response.setHeader("content-type", "text/html").end("<!doctype html><title>Mine</title>")
  }).listen(0, "127.0.0.1")
  await once(neighbour, "listening")
  const tab = await context.newPage()
  await tab.goto(`http://127.0.0.1:${(neighbour.address() as AddressInfo).port}/`)
  expect(seen[0]).toMatch(/^pawl_session_\d+=/) // the browser is that kind
  const headers = { cookie: seen[0] as string, origin: site.url, "sec-fetch-site": "same-origin" }
  const tries = ["/api/auth/me", "/api/conversations", "/api/export"].map((path) => fetch(site.url + path, { headers }))
  expect((await Promise.all(tries)).map(({ status }) => status)).toEqual([401, 401, 401])
  expect((await fetch(`${site.url}/api/tokens`, { method: "POST", headers, body: "{}" })).status).toBe(401)
  expect(await tab.evaluate("localStorage.length")).toBe(0)
  neighbour.close()
  // The page itself stays signed in, also after a reload and in another tab.
  await page.reload()
  await page.locator("#composer").waitFor()
  await tab.goto(site.url)
  await tab.locator("#composer").waitFor()
})

test("if the page's storage was cleared, it says so and asks to sign in again", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page } = await site.visit()
  await page.evaluate("localStorage.clear()")
  await page.reload()
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  await page.getByText("the data stored for it is gone").waitFor()
  await page.getByText("npx pawl invite --user NAME").waitFor()
})

test("signing out leaves no data in the browser, and another tab shows the sign-in page", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page, context } = await site.visit()
  const { page: second } = await site.look(context)
  await second.goto(site.url)
  await second.locator("#composer").waitFor()
  await page.getByRole("button", { name: /ada/ }).click()
  await page.getByRole("menuitem", { name: "Sign out" }).click()
  await page.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
  expect(await page.evaluate("localStorage.getItem('pawl.session')")).toBeNull()
  await second.reload()
  await second.getByRole("heading", { name: "Sign in to Pawl" }).waitFor()
})

test("a program that signs in by OAuth needs the consent of a person who is signed in", async () => {
  await using site = await Site.open({ model: scripted() })
  const { page, context } = await site.visit()
  const back = createServer((_, response) => response.end("Back again.")).listen(0, "127.0.0.1")
  await once(back, "listening")
  const redirect = `http://127.0.0.1:${(back.address() as AddressInfo).port}/callback`
  const post = async (path: string, type: string, body: string): Promise<Record<string, string>> => {
    const answer = await fetch(site.url + path, { method: "POST", headers: { "content-type": type }, body })
    return (await answer.json()) as Record<string, string>
  }
  const registration = { client_name: "A\u202Eprogram", redirect_uris: [redirect] }
  const { client_id = "" } = await post("/oauth/register", "application/json", JSON.stringify(registration))
  const verifier = "v".repeat(43)
  const question = {
    response_type: "code",
    client_id,
    redirect_uri: redirect,
    code_challenge_method: "S256",
    state: "s",
  }
  const challenge = createHash("sha256").update(verifier).digest("base64url")
  const said = new URLSearchParams({ ...question, code_challenge: challenge, prompt: "consent" })

  await page.goto(`${site.url}/oauth/authorize?${said}`)
  await page.getByText("A program asks for access to your account.").waitFor()
  expect([await page.locator("#name").innerText(), await page.locator("#who").innerText()]).toEqual(["Aprogram", "ada"])
  await page.getByRole("button", { name: "Allow", exact: true }).click()
  await page.getByText("Back again.").waitFor()
  const answer = new URL(page.url()).searchParams
  expect([answer.get("state"), answer.get("iss")]).toEqual(["s", site.url])
  const form = { grant_type: "authorization_code", code: answer.get("code") ?? "", redirect_uri: redirect, client_id }
  const exchange = new URLSearchParams({ ...form, code_verifier: verifier }).toString()
  const granted = await post("/oauth/token", "application/x-www-form-urlencoded", exchange)
  expect(granted).toMatchObject({ token_type: "Bearer", scope: "read chat" })

  await page.goto(`${site.url}/oauth/authorize?${said}&redirect_uri=https://evil.example`)
  await page.getByText("The program sent a parameter twice.").waitFor()
  await page.goto(`${site.url}/oauth/authorize?${said}`)
  await page.getByRole("button", { name: "Do not allow" }).click()
  await page.getByText("Back again.").waitFor()
  expect(new URL(page.url()).searchParams.get("error")).toBe("access_denied")

  await context.clearCookies()
  await page.goto(`${site.url}/oauth/authorize?${said}`)
  await page.getByRole("heading", { name: "Sign in first" }).waitFor()
  expect(await page.getByRole("button", { name: "Allow", exact: true }).isVisible()).toBe(false)
  back.close()
})

test("signing in by OIDC works from both pages, and not for a browser that was led to the callback", async () => {
  await using provider = await OidcProvider.open()
  provider.who = { sub: "1", name: "Grace", groups: ["staff"] }
  const oidc = {
    ...{ issuer: provider.issuer, clientId: CLIENT.id, clientSecret: CLIENT.secret, label: "Work", scope: "openid" },
    ...{ groupsClaim: "groups", groups: new Map([["staff", defaultScopes]]), mailDomains: [] },
  }
  await using site = await Site.open({ model: scripted(), oidc })
  const { page, context } = await site.visit()
  const leave = async () => {
    await context.clearCookies()
    await page.evaluate("localStorage.clear()")
  }
  await leave()
  await page.goto(site.url)
  await page.getByRole("button", { name: "Sign in with Work" }).click()
  await page.getByRole("button", { name: /Grace/ }).waitFor()
  expect(await page.evaluate("localStorage.getItem('pawl.oidc')")).toBeNull()

  // A program that asks for consent waits for the sign-in, and its question follows.
  await leave()
  const redirect = "http://127.0.0.1:9/back"
  const registered = await fetch(`${site.url}/oauth/register`, {
    ...{ method: "POST", headers: { "content-type": "application/json" } },
    body: JSON.stringify({ client_name: "Program", redirect_uris: [redirect] }),
  })
  const { client_id } = (await registered.json()) as { client_id: string }
  const challenge = createHash("sha256").update("v".repeat(43)).digest("base64url")
  const asked = { response_type: "code", client_id, redirect_uri: redirect, code_challenge: challenge }
  const question = `${site.url}/oauth/authorize?${new URLSearchParams({ ...asked, code_challenge_method: "S256" })}`
  await page.goto(question)
  await page.getByRole("button", { name: "Sign in with Work" }).click()
  await page.getByText("A program asks for access to your account.").waitFor()
  expect(await page.locator("#who").innerText()).toBe("Grace")
  expect(page.url()).toBe(question)
  expect(await page.evaluate("Object.keys(localStorage).sort().join()")).toBe("pawl.session")
  // Data stored for another sign-in does not open this one.
  await leave()
  await page.evaluate(`localStorage.setItem("pawl.consent", '{"pageHalf":"another","question":"?client_id=x"}')`)
  await page.goto(`${site.url}/sign-in`)
  await page.getByRole("button", { name: "Sign in with Work" }).click()
  await page.getByRole("button", { name: /Grace/ }).waitFor()

  await leave()
  await page.goto(`${site.url}/sign-in/callback?code=x&state=y`)
  await page.getByText("was not started in this browser").waitFor()
  expect(page.url()).toBe(`${site.url}/sign-in/callback`)
  provider.who = { sub: "1", name: "Grace" }
  await page.getByRole("link", { name: "Start again" }).click()
  await page.getByRole("button", { name: "Sign in with Work" }).click()
  await page.getByText("none of your groups there may use this server").waitFor()
})
