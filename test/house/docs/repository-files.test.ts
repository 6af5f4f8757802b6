import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { parse } from "yaml"
import manifest from "../../../package.json" with { type: "json" }

const read = (file: string) => readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8")

interface Workflow {
  readonly jobs: Record<
    string,
    {
      readonly uses?: string
      readonly needs?: string
      readonly strategy?: { readonly matrix: { readonly runner: readonly string[] } }
      readonly steps?: readonly { readonly run?: string }[]
    }
  >
}

test("a push is checked on x86_64 and arm64 by the script that CI runs", () => {
  const { check } = (parse(read(".github/workflows/check.yml")) as Workflow).jobs
  expect(check?.strategy?.matrix.runner).toEqual(["ubuntu-24.04", "ubuntu-24.04-arm"])
  expect(check?.steps?.at(-1)?.run).toBe(".ci/run")
})

test("a release is published with provenance, after the same check", () => {
  const { check, publish } = (parse(read(".github/workflows/release.yml")) as Workflow).jobs
  expect(check?.uses).toBe("./.github/workflows/check.yml")
  expect(publish?.needs).toBe("check")
  expect(publish?.steps?.at(-1)?.run).toBe(
    "npm publish --provenance --access public --workspace core --workspace client --include-workspace-root",
  )
})

test("the packages have one version", () => {
  const versions = ["core", "client"].map(
    (name) => (JSON.parse(read(`${name}/package.json`)) as typeof manifest).version,
  )
  expect(versions).toEqual([manifest.version, manifest.version])
})

test("the newest version in the changelog is the package's", () => {
  expect(/^## \[(\d\S+)\]/m.exec(read("CHANGELOG.md"))?.[1]).toBe(manifest.version)
})

test("the package names its repository, home page, bug tracker and keywords, and asks for no money", () => {
  const { repository, homepage, bugs, keywords } = manifest
  const url = repository.url.replace(/^git\+|\.git$/g, "")
  expect([homepage, bugs]).toEqual([`${url}#readme`, `${url}/issues`])
  expect(keywords.length).toBeGreaterThan(5)
  expect(manifest).not.toHaveProperty("funding")
})

test("issue templates have the names that GitHub suggests", () => {
  expect(readdirSync(new URL("../../../.github/ISSUE_TEMPLATE", import.meta.url)).sort()).toEqual([
    "bug_report.md",
    "config.yml",
    "feature_request.md",
  ])
})

test("every test that SECURITY.md names exists", () => {
  const named = [...read("SECURITY.md").matchAll(/`((?:core|client|packs|adapters|apps|labs|test)\/[^`]+)`/g)].map(
    ([, file]) => file!,
  )
  expect(named.length).toBeGreaterThan(30)
  for (const file of named) expect(() => read(file), file).not.toThrow()
})
