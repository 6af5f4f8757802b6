import { describe, expect, test } from "vitest"
import { says } from "../../../core/models/scripted/script.ts"
import { always, scripted } from "../../../core/models/scripted/model.ts"
import { createRateLimits, spend } from "../../../core/server/auth/rate-limits.ts"
import { codeOf, linkFor } from "../../support/server/browser.ts"
import { databases } from "../../support/databases.ts"
import { Face, type FaceOptions, Visitor } from "../../support/server/face.ts"
import { TurnedClock } from "../../support/loop/world.ts"

const open = async (more: Partial<FaceOptions> = {}) =>
  Face.open({ url: (await databases[0]!.create()).url, model: scripted(always(says("ok"))), ...more })

const from = (face: Face, address: string | undefined, token?: string) =>
  new Visitor((request) => face.fetch(request, address), token)

describe("the headers of a proxy", () => {
  const address = { publicUrl: "https://pawl.example", trustedProxies: ["10.0.0.0/8", "::1"] }

  test.each<[peer: string, status: number]>([
    ["10.1.2.3", 200],
    ["::ffff:10.1.2.3", 200],
    ["::1", 200],
    ["11.0.0.1", 421],
    ["127.0.0.1", 421],
  ])("count from %s for the requested host: %i", async (peer, status) => {
    await using face = await open({ address })
    const headers = { host: "inside:7295", "x-forwarded-host": "pawl.example" }
    expect((await from(face, peer).get("/healthz", headers)).status).toBe(status)
  })

  test.each<[peer: string, proto: string, origin: string, outcome: string]>([
    ["10.0.0.1", "https", "https://192.0.2.9", "200 secure"],
    ["10.0.0.1", "https", "http://192.0.2.9", "403"],
    ["10.0.0.1", "http", "http://192.0.2.9", "200 plain"],
    ["192.0.2.1", "https", "http://192.0.2.9", "200 plain"],
  ])("count from %s for the scheme %s: a page of %s gets %s", async (peer, proto, origin, outcome) => {
    await using face = await open({ address: { host: "0.0.0.0", trustedProxies: ["10.0.0.0/8"] } })
    const headers = { host: "192.0.2.9", origin, "x-forwarded-proto": proto }
    const body = JSON.stringify({ secret: await linkFor(face, "ada") })
    const request = new Request("http://localhost/api/auth/sign-in", { method: "POST", headers, body })
    const response = await face.fetch(request, peer)
    const cookie = response.headers.get("set-cookie")
    const kind = cookie === null ? "" : cookie.startsWith("__Host-") ? " secure" : " plain"
    expect(`${response.status}${kind}`).toBe(outcome)
  })

  test("cannot allow a name that is not ours", async () => {
    await using face = await open({ address })
    const headers = { host: "127.0.0.1", "x-forwarded-host": "evil.example" }
    expect((await from(face, "10.0.0.1").get("/healthz", headers)).status).toBe(421)
    expect((await from(face, "192.0.2.1").get("/healthz", headers)).status).toBe(200) // not a trusted proxy
  })

  /** Uses up the attempts of an address, then checks which other addresses are refused too. */
  const isSameAddress = async (
    first: [peer: string, forwarded: string],
    second: [peer: string, forwarded: string],
  ): Promise<boolean> => {
    await using face = await open({ address, clock: new TurnedClock(), instead: { requestsPerMinute: 1000 } })
    const tryLink = ([peer, forwarded]: [string, string]) =>
      from(face, peer).post("/api/auth/sign-in", { secret: "x" }, { "x-forwarded-for": forwarded })
    for (let n = 0; n < 20; n++) expect((await tryLink(first)).status).toBe(401)
    expect((await tryLink(first)).status).toBe(429)
    return (await tryLink(second)).status === 429
  }

  test.each<[what: string, first: [string, string], second: [string, string], same: boolean]>([
    ["a stranger's header is not believed", ["192.0.2.1", "1.1.1.1"], ["192.0.2.1", "2.2.2.2"], true],
    ["a proxy's is", ["10.0.0.1", "1.1.1.1"], ["10.0.0.1", "2.2.2.2"], false],
    ["from whichever proxy", ["10.0.0.1", "1.1.1.1"], ["10.9.9.9", "1.1.1.1"], true],
    ["what a stranger told the proxy is not", ["10.0.0.1", "6.6.6.6, 1.1.1.1"], ["10.0.0.1", "7.7.7.7, 1.1.1.1"], true],
    [
      "proxies behind each other are seen through",
      ["10.0.0.1", "1.1.1.1, 10.0.0.2"],
      ["10.0.0.1", "2.2.2.2, 10.0.0.2"],
      false,
    ],
    ["nonsense is the proxy itself", ["10.0.0.1", "nonsense"], ["10.0.0.1", ""], true],
    ["one network of IPv6 is one caller", ["2001:db8::1", ""], ["2001:db8:0:0:1::2", ""], true],
    ["however it is written", ["2001:db8::1", ""], ["2001:0db8:0000:0000:ffff:1:2:3", ""], true],
    ["zeros may stand anywhere", ["::1:2:3:4:5:6", ""], ["0:0:1:2:9::", ""], true],
    ["another is not", ["2001:db8::1", ""], ["2001:db8:0:1::1", ""], false],
    ["a written-out zero is a zero", ["2001:0:0:1:2:3:4:5", ""], ["2001:0:0:2:2:3:4:5", ""], false],
  ])("%s", async (_what, first, second, same) => {
    expect(await isSameAddress(first, second)).toBe(same)
  })
})

describe("too many requests", () => {
  test("of one user are refused until the minute has passed, whichever credential they use", async () => {
    const clock = new TurnedClock()
    await using face = await open({ clock, instead: { requestsPerMinute: 6 } })
    const [ada, again, bob] = [await face.as("ada"), await face.as("ada"), await face.as("bob")]
    for (let n = 0; n < 6; n++) expect((await (n % 2 ? ada : again).get("/api/auth/me")).status).toBe(200)
    const { token } = await face.store.people.createToken(await face.store.people.ensure("ada", 0), ["read"], 0)
    const init = { headers: { authorization: `Bearer ${token}` } }
    const refused = await face.fetch(new Request("http://localhost/api/auth/me", init))
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"])
    expect(await refused.json()).toMatchObject({ code: "too_many_requests", status: 429 })
    expect((await bob.get("/api/auth/me")).status).toBe(200)
    await clock.turn(9_999)
    expect((await ada.get("/api/auth/me")).status).toBe(429)
    await clock.turn(10_000)
    expect((await ada.get("/api/auth/me")).status).toBe(200)
  })

  test("without a user are refused by address, and do not count against users", async () => {
    await using face = await open({ clock: new TurnedClock(), instead: { requestsPerMinute: 1000 } })
    const stranger = from(face, "192.0.2.1", "pawl_wrong")
    for (let n = 0; n < 120; n++) expect((await stranger.get("/api/auth/me")).status).toBe(401)
    expect(codeOf(await stranger.get("/api/auth/me"))).toEqual([429, "too_many_requests"])
    expect((await from(face, "192.0.2.2").get("/api/auth/me")).status).toBe(401)
    const person = await face.store.people.ensure("ada", 0)
    const { token } = await face.store.people.createToken(person, ["read"], 0)
    expect((await from(face, "192.0.2.1", token).get("/api/auth/me")).status).toBe(200)
  })

  test("cannot use up a sign-in link of another user", async () => {
    await using face = await open({ clock: new TurnedClock(), instead: { requestsPerMinute: 1000 } })
    const secret = await linkFor(face, "ada")
    for (let n = 0; n < 20; n++) await from(face, "192.0.2.1").post("/api/auth/sign-in", { secret: "x" })
    expect((await from(face, "192.0.2.1").post("/api/auth/sign-in", { secret })).status).toBe(429)
    expect((await from(face, "192.0.2.2").post("/api/auth/sign-in", { secret })).status).toBe(200)
  })

  test("to sign in are refused before their body is read", async () => {
    await using face = await open({ clock: new TurnedClock(), instead: { requestsPerMinute: 1000 } })
    const stranger = from(face, "192.0.2.1")
    for (let n = 0; n < 20; n++) await stranger.post("/api/auth/sign-in", { secret: "x" })
    const endless = new ReadableStream({ pull: () => new Promise(() => {}) })
    expect((await stranger.post("/api/auth/sign-in", endless)).status).toBe(429)
    // A body that cannot be parsed also counts as an attempt.
    for (let n = 0; n < 20; n++) await from(face, "192.0.2.3").post("/api/auth/sign-in", "{")
    expect((await from(face, "192.0.2.3").post("/api/auth/sign-in", { secret: "x" })).status).toBe(429)
  })

  test("have no limit if the operator sets it to 0", async () => {
    const { people, strangers, signIns } = createRateLimits(0, new TurnedClock())
    expect([people, strangers, signIns]).toEqual([undefined, undefined, undefined])
  })

  test("from any number of addresses use bounded memory", () => {
    const { strangers } = createRateLimits(100, new TurnedClock())
    for (let n = 0; n < 25_000; n++) spend(strangers, `10.${n >> 16}.${(n >> 8) & 255}.${n & 255}`)
    expect(strangers?.size).toBe(10_000)
  })
})
