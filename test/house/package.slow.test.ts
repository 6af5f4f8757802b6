import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { LLMock } from "@copilotkit/aimock"
import { build } from "rolldown"
import { beforeAll, expect, inject, test } from "vitest"
import { openBrowser } from "../../scripts/chromium.ts"
import { entries, manifest, programs } from "../../scripts/entries.ts"
import { examples, runExample, settingsOfExamples, type Standing, withPawl } from "../support/processes/doc-examples.ts"
import {
  bring,
  type Installed,
  installPackage,
  ownCache,
  ownNode,
  ownPath,
  sizeOf,
} from "../support/processes/installed-package.ts"
import { commentExamples, toModule } from "../support/processes/comment-examples.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"
import { isLong } from "../support/sizes.ts"
import { keys, TerminalProcess } from "../terminal/terminal.ts"

/** The package, installed in an empty folder: all tests of this file use it, not this checkout. */
let installed: Installed
let token: string
let standing: Standing
const begun = dataFolder()

/**
 * One run of eight, by the seed, and the long run also build the package first, and install more packages from npm.
 */
const doesMore = isLong || inject("seed") % 8 === 0

const inPackage = (...names: string[]) => join(installed.folder, "node_modules", "pawl", ...names)
const start = (words: readonly string[], settings: Record<string, string>) =>
  new PawlProcess(words, settings, { script: installed.command, cwd: installed.folder })
const specifiers = Object.keys(entries).map((name) => (name === "index" ? "pawl" : `pawl/${name}`))

beforeAll(async () => {
  installed = await installPackage({ anew: doesMore, typed: true })
  bring("@ai-sdk/anthropic", installed)
  bring("hono", installed)
  token = (await start(["token", "create", "--user", "ada"], { PAWL_DATA: begun }).ended).stdout.trim()
  const data = dataFolder()
  const server = start(["serve"], settingsOfExamples(data))
  const [, url = ""] = await server.says(/listening on (\S+)/)
  let people = 0
  standing = { url, data, newToken: () => tokenFor({ PAWL_DATA: data }, `person ${++people}`) }
}, 300_000)

test("it contains the programs and their documentation: no sources, no tests, no Node", () => {
  const files = readdirSync(inPackage(), { recursive: true, encoding: "utf8" })
  expect(
    files.filter((path) =>
      /\.(test|fixture)\.|(?<!\.d)\.tsx?$|^(core|client|packs|adapters|apps|labs|test|bench|scripts|runtime)/.test(
        path,
      ),
    ),
  ).toEqual([])
  const packages = readdirSync(join(installed.folder, "node_modules"))
  expect(packages.filter((name) => /^node-/.test(name))).toEqual([])
  expect(Object.keys(programs).filter((name) => !files.includes(`dist/${name}.js`))).toEqual([])
  expect(files.filter((path) => path.endsWith(".map"))).toEqual([])
})

test("it takes as much space as docs/comparisons.md states", () => {
  const page = readFileSync(join(import.meta.dirname, "../../docs/comparisons.md"), "utf8")
  const said = [...page.matchAll(/(?:installed size, .*?\| |0\.1\.0, )(\d+) MB/g)].map(([, size]) => Number(size))
  const size = sizeOf(join(installed.folder, "node_modules")) / 1e6
  expect(said).toHaveLength(2)
  // The size varies: dependencies get new versions.
  for (const megabytes of said) expect(Math.abs(megabytes - size), `${size.toFixed(1)} MB`).toBeLessThan(4)
})

test("every entry can be imported, and exports the same as the sources", async () => {
  const script = `for (const name of ${JSON.stringify(specifiers)}) console.log(Object.keys(await import(name)).sort().join())`
  const words = ["--input-type=module", "--eval", script]
  const { stdout } = await installed.run(process.execPath, words)
  // In the checkout the same names are its sources, by this condition of package.json.
  const sources = ["--conditions=pawl-source", ...words]
  const expected = await promisify(execFile)(process.execPath, sources, { cwd: join(import.meta.dirname, "../..") })
  expect(stdout.trim().split("\n")).toHaveLength(specifiers.length)
  expect(stdout).toBe(expected.stdout)
})

test.each(examples)("the example of docs/$page, number $example, prints there what the page shows", async (example) => {
  const { folder, command: script } = installed
  expect(await runExample(example, { folder, script, begun, token, standing })).toBe(example.output)
})

/** The names that the entries export, by specifier. Those of a later entry that an earlier one has too are left out. */
async function namesOfEntries(): Promise<Record<string, string[]>> {
  const code = `const all = {}; for (const name of ${JSON.stringify(specifiers)}) all[name] = Object.entries(await import(name)).filter(([, value]) => typeof value === "function" && !/^class /.test(String(value))).map(([key]) => key); console.log(JSON.stringify(all))`
  const { stdout } = await installed.run(process.execPath, ["--input-type=module", "--eval", code])
  return { ...(JSON.parse(stdout) as Record<string, string[]>), "@ai-sdk/anthropic": ["createAnthropic"] }
}

/** Writes the examples of comments as modules into a folder. */
async function writeCommentExamples(folder: string): Promise<void> {
  const { "pawl/protocol": _, "pawl/client": __, ...names } = await namesOfEntries()
  const from = { ...names, "pawl/client": ["createClient"] }
  mkdirSync(folder, { recursive: true })
  for (const example of commentExamples) writeFileSync(join(folder, `${example.name}.ts`), toModule(example, from))
}

test("the comment of every function for programs and tests has an example, which prints what it says", async () => {
  const names = await namesOfEntries()
  const exported = ["pawl", "pawl/testing", "pawl/server"].flatMap((entry) => names[entry] ?? [])
  const shown = commentExamples.map(({ name }) => name)
  expect(exported.filter((name) => !shown.includes(name))).toEqual([])
  const folder = join(installed.folder, "comments")
  await writeCommentExamples(folder)
  const code = `import { writeFileSync } from "node:fs"
const printed = {}
for (const name of ${JSON.stringify(shown)}) {
  const lines = (printed[name] = [])
  console.log = (...words) => lines.push(words.join(" "))
  await import("./" + name + ".ts").catch((error) => lines.push(String(error)))
}
writeFileSync("printed.json", JSON.stringify(printed))
process.exit()`
  writeFileSync(join(folder, "run.mjs"), code)
  await promisify(execFile)(process.execPath, ["run.mjs"], { cwd: folder })
  const printed = JSON.parse(readFileSync(join(folder, "printed.json"), "utf8")) as Record<string, string[]>
  for (const { name, output } of commentExamples) expect([name, printed[name]?.join("\n")]).toEqual([name, output])
})

/** The declarations, the examples of the documentation and those of comments, compiled as strictly as possible. */
async function compileStrictly(compiler: readonly string[]): Promise<void> {
  const folder = join(installed.folder, "typed")
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder)
  const uses = specifiers.map((name, index) => `import * as used${index} from "${name}"\nconsole.log(used${index})`)
  writeFileSync(join(folder, "uses.ts"), uses.join("\n"))
  // The types of the AI SDK need those of a browser, and of a package that it does not install; we cannot fix that.
  const ours = examples.filter(({ code }) => !code.includes("@ai-sdk/"))
  expect(ours.length).toBeLessThan(examples.length)
  for (const { page, example, code } of ours)
    writeFileSync(join(folder, `${page.replaceAll("/", "-")}-${example}.ts`), `export {}\n${withPawl(code)}`)
  await writeCommentExamples(join(folder, "comments"))
  rmSync(join(folder, "comments/toModel.ts")) // it uses the AI SDK
  writeFileSync(join(folder, "browser.ts"), `import "pawl/client"\nimport "pawl/protocol"`)
  const strict = { strict: true, skipLibCheck: false, noEmit: true, target: "esnext" }
  const [program = "", ...words] = compiler
  const compile = async (name: string, compilerOptions: object, files: string[] = []) => {
    const settings = { compilerOptions: { ...strict, ...compilerOptions }, ...(files.length > 0 ? { files } : {}) }
    writeFileSync(join(folder, name), JSON.stringify(settings))
    const run = installed.run(program, [...words, "-p", join(folder, name)])
    const { stdout } = await run.catch((error: { stdout: string }) => error)
    expect(stdout).toBe("")
  }
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module" }))
  await compile("tsconfig.json", { module: "nodenext", lib: ["esnext"], types: ["node"] })
  const stricter = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true }
  const page = { ...stricter, module: "esnext", moduleResolution: "bundler", lib: ["esnext", "dom"], types: [] }
  await compile("tsconfig.page.json", page, ["browser.ts"])
}

test("strict TypeScript compiles against it, declarations included", () => compileStrictly(["tsc", "--checkers", "1"]))

test.runIf(isLong).each(["5.9", "6.0"])("so does TypeScript %s", { timeout: 600_000 }, async (version) => {
  const folder = join(installed.folder, `typescript-${version}`)
  mkdirSync(folder)
  await installed.run("npm", ["install", "--prefix", folder, "--no-audit", "--no-fund", `typescript@${version}`])
  await compileStrictly([join(folder, "node_modules/.bin/tsc")])
})

test("a bundler can bundle it for a page, and for a program", async () => {
  const folder = join(installed.folder, "bundled")
  mkdirSync(folder)
  const bundle = async (name: string, platform: "browser" | "node", code: string) => {
    const input = join(folder, `${name}.ts`)
    writeFileSync(input, code)
    const file = join(folder, "made", `${name}.mjs`)
    await build({ input, platform, logLevel: "silent", output: { file, codeSplitting: false } })
    return file
  }
  const page = await bundle("page", "browser", `export * from "pawl/client"\nexport { newId } from "pawl/protocol"`)
  expect(readFileSync(page, "utf8")).not.toMatch(/(from|import\(|require\() ?"(?!\.)/)
  const said = examples.find(({ page: of, provider }) => of === "guide/library.md" && !provider)!
  // The guide uses the library; the command exports the same under its own name.
  const program = await bundle("program", "node", said.code.replaceAll("@pawl/core", "pawl"))
  expect((await installed.run(process.execPath, [program])).stdout).toBe(said.output)
})

test("pawl serve includes the page, and a browser shows it", async ({ skip }) => {
  await using server = start(["serve"], { PAWL_DATA: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off" })
  const [, link = "", url = ""] = await server.says(/(http\S+\/sign-in#\S+)[\s\S]*listening on (\S+)/)
  const index = await (await fetch(url)).text()
  const named = [...index.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path!)
  expect(named.length).toBeGreaterThan(1)
  for (const path of named) expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
  const browser = await openBrowser().catch((error: Error) => error)
  if (browser instanceof Error) return skip(browser.message)
  const page = await browser.newPage()
  await page.goto(link)
  await page.getByRole("heading", { name: "What would you like to do?" }).waitFor()
  await browser.close()
})

test("pawl exec answers, pawl backup copies what it wrote, and pawl chat talks in a terminal", async () => {
  const settings = { PAWL_DATA: dataFolder() }
  const { code, stdout } = await start(["exec", "--agent", "workspace", "list my tasks"], settings).ended
  expect([code, stdout]).toEqual([0, "No tasks found.\n"])
  const copy = join(dataFolder(), "copy.db")
  expect((await start(["backup", copy], settings).ended).code).toBe(0)
  expect(existsSync(copy)).toBe(true)
  const [run, cwd] = [[installed.command, "chat"], dataFolder()]
  await using terminal = new TerminalProcess([], { PAWL_DATA: dataFolder() }, { run, cwd })
  await terminal.shows("Do you trust the files in")
  terminal.type("y", keys.enter)
  await terminal.shows("lists keys and commands")
  writeFileSync(join(cwd, "colours.txt"), "red, green\n")
  terminal.type("search for green", keys.enter)
  await terminal.shows("colours.txt")
})

test("the package has the adapter of each wire format, and finds it when its first model is asked", async () => {
  const provider = new LLMock({ port: 0 })
  provider.on({ userMessage: "Who is there?" }, { content: "A model." })
  const url = await provider.start()
  const data = dataFolder()
  await using server = start(["serve"], {
    ...{ PAWL_DATA: data, PAWL_PORT: "0", PAWL_LOG: "off", VLLM_ENDPOINT: url },
    ...{ AZURE_OPENAI_API_KEY: "k", AZURE_OPENAI_ENDPOINT: url, ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: url },
    ...{ GEMINI_API_KEY: "k", GEMINI_BASE_URL: url },
    ...{ AWS_BEARER_TOKEN_BEDROCK: "k", AWS_ENDPOINT_URL_BEDROCK_RUNTIME: url },
  })
  const [, base = ""] = await server.says(/listening on (\S+)/)
  const headers = {
    authorization: `Bearer ${await tokenFor({ PAWL_DATA: data })}`,
    "content-type": "application/json",
  }
  const post = async (path: string, body: object) => {
    const response = await fetch(`${base}/api/conversations${path}`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    })
    return (await response.json()) as { id: string; run: object; messages: { content: string }[] }
  }
  for (const model of ["vllm/m", "azure/m", "anthropic/claude-x", "google/gemini-3-pro", "bedrock/m"]) {
    const { id } = await post("", { model })
    const { run, messages } = await post(`/${id}/messages`, { text: "Who is there?" })
    expect([model, run, messages?.at(-1)?.content]).toEqual([
      model,
      expect.objectContaining({ status: "completed" }),
      "A model.",
    ])
  }
  await provider.stop()
})

test("publint finds no fault in it", async () => {
  const { tarball, run } = installed
  expect((await run("publint", [tarball, "--strict"])).stdout).toContain("All good!")
})

test.runIf(doesMore)("attw finds no fault in its types", async () => {
  const { tarball, run } = installed
  const attw = ["exec", "--yes", "--prefer-offline", "--package=@arethetypeswrong/cli@0.18.5", "--", "attw"]
  const { stdout } = await run("npm", [...attw, tarball, "--profile", "esm-only", "--format", "ascii"])
  for (const name of specifiers) expect(stdout).toContain(`"${name}"`)
})

// npm fetches and installs: on a machine with other things to do that takes minutes.
const patience = { timeout: 300_000 }
test.skipIf(Number(ownNode.split(".")[0]) >= 24)("an older Node prints a command that works", patience, async () => {
  const own = { PATH: ownPath, ...(await ownCache(installed.folder)) }
  const words = ["exec", "--agent", "workspace", "list my tasks"]
  const refused = await installed
    .run("node", [installed.command, ...words], own)
    .catch((error: { stderr: string }) => error)
  const [, line = ""] = /type `([^`]+)`/.exec(refused.stderr) ?? []
  expect(line).toBe("npx -p node@24 -p pawl pawl exec --agent workspace 'list my tasks'")
  if (!doesMore) return
  // The name is not published yet, so use the file that would be.
  const [, ...typed] = line.replace("-p pawl ", `-p ${installed.tarball} `).split(" ")
  const settings = { ...own, PAWL_DATA: dataFolder(), npm_config_yes: "true", npm_config_prefer_offline: "true" }
  const { stdout } = await installed.run(
    "sh",
    ["-c", `cd ${dataFolder()} && npx ${typed.join(" ")} </dev/null`],
    settings,
  )
  expect(stdout).toContain("No tasks found.")
})

test("each dependency is used, and each package that its types name is installed", () => {
  const files = readdirSync(inPackage("dist"), { recursive: true, encoding: "utf8" }).filter(
    (path) => !/^web/.test(path),
  )
  const named = packagesIn(files.filter((path) => /\.(js|d\.ts)$/.test(path)))
  const installedWith = Object.keys(manifest.dependencies)
  const onlyTypes = ["@types/node"]
  expect(installedWith.filter((name) => !named.has(name))).toEqual(onlyTypes)
  const inTypes = packagesIn(files.filter((path) => path.endsWith(".d.ts")))
  expect([...inTypes].filter((name) => !installedWith.includes(name))).toEqual([])
})

/** The packages that these files import, load or resolve: `zod/v4/core` belongs to `zod`. */
function packagesIn(paths: readonly string[]): Set<string> {
  const text = paths.map((path) => readFileSync(inPackage("dist", path), "utf8")).join("\n")
  const found = text.matchAll(/(?:from|import|import\(|resolve\() ?"((?:@[\w.-]+\/)?[\w.-]+)(?:\/[^":]*)?"/g)
  return new Set([...found].map(([, name]) => name!).filter((name) => !name.startsWith(".")))
}
