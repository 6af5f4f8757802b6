import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import { readConfig } from "./config.ts"

const ISSUER = { PAWL_OIDC_ISSUER: "https://id.example/realms/work", PAWL_OIDC_CLIENT_ID: "pawl" }
const GROUPS = { PAWL_OIDC_GROUPS: "staff=read chat" }
const page = readFileSync(join(import.meta.dirname, "../../../docs/recipes/sign-in-with-openid-connect.md"), "utf8")
const documented = [...page.matchAll(/```sh oidc (\w+)\n([\s\S]*?)```/g)].map(([, name = "", lines = ""]) => {
  const pairs = lines
    .trim()
    .split("\n")
    .map((line) => [line.slice(0, line.indexOf("=")).trim(), line.slice(line.indexOf("=") + 1)])
  return [name, Object.fromEntries(pairs) as Record<string, string>] as const
})

describe("the settings of an issuer", () => {
  test("are as docs/recipes/sign-in-with-openid-connect.md has them", () => {
    expect(documented.map(([name]) => name)).toEqual(["keycloak", "entra", "google"])
    const read = documented.map(([, environment]) => readConfig(environment))
    expect(read.flatMap(({ warnings }) => warnings)).toEqual([])
    expect(read.map(({ oidc }) => [oidc?.label, oidc?.groupsClaim, [...(oidc?.groups.keys() ?? [])]])).toEqual([
      ["Keycloak", "groups", ["staff", "ops"]],
      ["Microsoft", "roles", ["Pawl.User", "Pawl.Admin"]],
      ["Google", "groups", ["*"]],
    ])
    expect(read.every(({ secrets }) => secrets.includes("the-secret-of-the-client"))).toBe(true)
  })

  test("have usual values for the rest", () => {
    const { oidc } = readConfig({ ...ISSUER, PAWL_OIDC_GROUPS: "a=b=admin read,, *=read" })
    expect(oidc).toMatchObject({ label: "id.example", scope: "openid profile email", mailDomains: [] })
    expect([...(oidc?.groups ?? [])]).toEqual([
      ["a=b", ["read", "admin"]],
      ["*", ["read"]],
    ])
    expect(readConfig({}).oidc).toBeUndefined()
  })

  test.each<[what: string, environment: Record<string, string>, told: string]>([
    ["an issuer over plain http", { ...GROUPS, PAWL_OIDC_ISSUER: "http://id.example" }, "PAWL_OIDC_ISSUER cannot be"],
    [
      "everybody of Microsoft",
      { PAWL_OIDC_ISSUER: "https://login.microsoftonline.com/common/v2.0" },
      "of one organisation",
    ],
    ["its document", { PAWL_OIDC_ISSUER: "https://id.example/.well-known/openid-configuration" }, "own address"],
    ["no client", { PAWL_OIDC_ISSUER: "https://id.example", ...GROUPS }, "…/sign-in/callback"],
    ["nobody who may come in", ISSUER, "PAWL_OIDC_GROUPS. Set who can sign in"],
    ["a scope that there is not", { ...ISSUER, PAWL_OIDC_GROUPS: "staff=read write" }, "self-approve"],
    ["a group without scopes", { ...ISSUER, PAWL_OIDC_GROUPS: "staff=" }, "PAWL_OIDC_GROUPS cannot be"],
    ["a group twice", { ...ISSUER, PAWL_OIDC_GROUPS: "a=read,a=admin" }, "PAWL_OIDC_GROUPS cannot be"],
    ["no word openid", { ...ISSUER, ...GROUPS, PAWL_OIDC_SCOPE: "profile" }, "It must contain openid"],
    ["a domain that is none", { ...ISSUER, ...GROUPS, PAWL_OIDC_MAIL_DOMAINS: "@example.org" }, "domains such as"],
    ["groups alone", GROUPS, "PAWL_OIDC_GROUPS is set without PAWL_OIDC_ISSUER"],
    ["a secret alone", { PAWL_OIDC_CLIENT_SECRET: "xyz" }, "PAWL_OIDC_CLIENT_SECRET is set without"],
  ])("with %s are refused with a helpful sentence", (_what, environment, told) => {
    expect(() => readConfig(environment)).toThrow(told)
  })

  test("allow plain http on this machine", () => {
    for (const host of ["localhost:8080", "127.0.0.1", "[::1]:1"])
      expect(readConfig({ ...ISSUER, ...GROUPS, PAWL_OIDC_ISSUER: `http://${host}/realms/x` }).oidc).toBeDefined()
    expect(() => readConfig({ ...ISSUER, ...GROUPS, PAWL_OIDC_ISSUER: "http://127.0.0.1.evil.example" })).toThrow()
  })
})
