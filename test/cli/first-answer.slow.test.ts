import { execFile, execFileSync } from "node:child_process"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { beforeAll, expect, test } from "vitest"
import { createClient } from "../../client/index.ts"
import { playLocalServer } from "../support/local-model-server.ts"
import { type Installed, installLibrary, installPackage, ownCache } from "../support/processes/installed-package.ts"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { keys, TerminalProcess } from "../terminal/terminal.ts"

// Follows each documented way to a first answer as a newcomer would: at most three steps, with the packed package and a model
// server on this machine. Nothing is published yet, so `pawl` is the packed file.

const root = join(import.meta.dirname, "../..")
const read = (path: string) => readFileSync(join(root, path), "utf8")
const LINK = /(http\S+\/sign-in#\S+)/
let installed: Installed

beforeAll(async () => {
  installed = await installPackage({ anew: false, typed: false })
}, 300_000)

/** Acts as a browser with the printed link: signs in once, then sends a message and reads the reply. */
async function askOverLink(link: string, text: string): Promise<string> {
  const { origin, hash } = new URL(link)
  const signIn = await fetch(`${origin}/api/auth/sign-in`, {
    method: "POST",
    headers: { origin, "content-type": "application/json" },
    body: JSON.stringify({ secret: hash.slice(1) }),
  })
  expect(signIn.status).toBe(200)
  const [cookie = ""] = (signIn.headers.get("set-cookie") ?? "").split(";")
  const { pageSecret } = (await signIn.json()) as { pageSecret: string }
  const client = createClient({
    baseUrl: origin,
    fetch: async (input, init) =>
      fetch(input, {
        ...init,
        headers: { ...(init?.headers as Record<string, string>), origin, cookie, "x-pawl-session": pageSecret },
      }),
  })
  const { id } = await client.createConversation({ body: {} })
  let reply = ""
  for await (const event of client.run(id, text))
    if (event.type === "text_delta") reply += (event.data as { text: string }).text
  return reply
}

test("each guide begins with at most three steps", () => {
  for (const page of [
    "guide/page.md",
    "guide/terminal.md",
    "guide/server.md",
    "guide/library.md",
    "recipes/deploy-with-docker.md",
  ]) {
    const steps = /^1\. [\s\S]*?(?=\n\n(?!\s)(?!\d\.)|\n## )/m.exec(read(`docs/${page}`))?.[0] ?? ""
    const numbers = [...steps.matchAll(/^(\d)\. /gm)].map(([, number]) => Number(number))
    expect([page, numbers], steps).toEqual([page, numbers.length === 2 ? [1, 2] : [1, 2, 3]])
  }
})

test(
  "npx pawl chat in an empty folder: start, say whether the folder is trusted, ask",
  { timeout: 180_000 },
  async () => {
    await using ollama = await playLocalServer("ollama", "qwen3:8b")
    const [cwd, home] = [dataFolder(), dataFolder()]
    const cache = await ownCache(home)
    const npm = { ...cache, npm_config_yes: "true", npm_config_prefer_offline: "true", npm_config_loglevel: "error" }
    const words = ["--package", installed.tarball, "pawl", "chat"]
    const start = { program: "npx", run: words, cwd, columns: 120 }
    await using terminal = new TerminalProcess([], { HOME: home, OLLAMA_HOST: ollama.url, ...npm }, start)
    await terminal.shows("Do you trust the files in")
    terminal.type("y", keys.enter)
    await terminal.shows("ollama/qwen3:8b answers here.")
    terminal.type("Say hello.", keys.enter)
    await terminal.shows("Hello.")
  },
)

test("npm install @pawl/core in an empty project: install, save the guide's first program, start it", async () => {
  const [, program = ""] = /```ts run provider\n([\s\S]*?)```/.exec(read("docs/guide/library.md")) ?? []
  const folder = await installLibrary("core")
  writeFileSync(join(folder, "ask.mts"), program)
  const played = join(root, "test/support/processes/played-provider.ts")
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ["--import", played, "ask.mts"], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: dataFolder(), ANTHROPIC_API_KEY: "sk-ant-example" },
  })
  expect([stdout, stderr]).toEqual(["Air scatters blue light more than red.\n", ""])
})

test("a clone: npm ci && npm start, open the link, ask", { timeout: 300_000 }, async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  const folder = join(dataFolder(), "clone")
  const files = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root, encoding: "utf8" })
  for (const file of files.split("\0")) {
    if (!file || /^(test|bench|docs\/images)\//.test(file)) continue
    mkdirSync(dirname(join(folder, file)), { recursive: true })
    cpSync(join(root, file), join(folder, file))
  }
  // `npm ci` would install the same modules that this checkout has, and take minutes more.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  const { PATH = "" } = process.env
  const settings = { PATH, HOME: dataFolder(), PAWL_PORT: "0", PAWL_LOG: "off", OLLAMA_HOST: ollama.url }
  await using terminal = new TerminalProcess([], settings, {
    program: "npm",
    run: ["start"],
    cwd: folder,
    columns: 200,
  })
  await terminal.shows("listening on")
  const [, link = ""] = LINK.exec(terminal.output) ?? []
  expect(await askOverLink(link, "Say hello.")).toBe("Hello.")
})

test("the container: build and start it, read the link from its log, ask", { timeout: 300_000 }, async () => {
  await using ollama = await playLocalServer("ollama", "qwen3:8b")
  const [, last = ""] = read("Dockerfile").split(/^FROM .* AS build$/m)
  const app = join(dataFolder(), "app")
  const image = last.slice(last.indexOf("FROM "))
  for (const [, names = "", target = ""] of image.matchAll(/^COPY (?!--from)(.+) (\S+)$/gm)) {
    for (const name of names.split(" ")) {
      const isFolder = target.endsWith("/") && !target.startsWith(".")
      const place = join(app, target === "./" ? name : isFolder ? join(target, name.split("/").at(-1)!) : target)
      mkdirSync(dirname(place), { recursive: true })
      cpSync(join(root, name), place, { recursive: true })
    }
  }
  cpSync(join(installed.folder, "node_modules/pawl/dist"), join(app, "dist"), { recursive: true })
  const [, words = ""] = /^RUN npm (ci [^&]+?) &&/m.exec(image) ?? []
  await promisify(execFile)("npm", [...words.split(" "), "--prefer-offline", "--loglevel=error"], { cwd: app })
  const [, environment = ""] = /^ENV (.+)$/m.exec(image) ?? []
  const env = Object.fromEntries(environment.split(" ").map((each) => each.split("=") as [string, string]))
  expect(Object.keys(env)).toEqual(["NODE_ENV", "PAWL_HOST", "PAWL_DATA"])
  const [entry, command] = ["ENTRYPOINT", "CMD"].map((name) => {
    const [, list = "[]"] = new RegExp(`^${name} (\\[.*\\])$`, "m").exec(image) ?? []
    return JSON.parse(list) as string[]
  })
  expect(entry).toEqual(["pawl"])
  const settings = { ...env, PAWL_DATA: dataFolder(), PAWL_PORT: "0", OLLAMA_HOST: ollama.url }
  await using server = new PawlProcess(command!, settings, { script: join(app, "bin/pawl.js"), cwd: app })
  const [, link = ""] = await server.says(new RegExp(`${LINK.source}[\\s\\S]*listening on`))
  expect(await askOverLink(link, "Say hello.")).toBe("Hello.")
})
