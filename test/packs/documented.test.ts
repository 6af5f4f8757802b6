import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, beforeAll, expect, test } from "vitest"
import { dataFolder, PawlProcess } from "../support/processes/pawl-process.ts"
import { tokenFor } from "../support/processes/token-for.ts"

const run = promisify(execFile)
const root = fileURLToPath(new URL("../..", import.meta.url))
const page = readFileSync(join(root, "docs", "recipes", "write-a-pack.md"), "utf8")

/** The files of the page, and the output that it shows for the last of them. */
const files = [...page.matchAll(/```ts file=(\S+)\n([\s\S]*?)```/g)].map(([, name = "", code = ""]) => ({ name, code }))
const printed = /It prints\n\n```text\n([\s\S]*?)```/.exec(page)?.[1]

/** In the checkout, so that `zod` can be resolved; `pawl` always resolves to the program itself. */
let folder: string
const data = dataFolder()
let token: string
beforeAll(async () => {
  folder = await mkdtemp(join(root, "test", ".docs-"))
  for (const { name, code } of files) await writeFile(join(folder, name), code)
  token = await tokenFor({ PAWL_DATA: data })
}, 120_000)
afterAll(() => rm(folder, { recursive: true, force: true }))

async function serve(settings: Record<string, string>) {
  const serving = new PawlProcess(["serve"], { PAWL_DATA: data, PAWL_PORT: "0", ...settings }, { cwd: folder })
  const url = (await serving.says(/listening on (\S+)/))[1] ?? ""
  const ask = (method: string, path: string) =>
    fetch(`${url}${path}`, { method, headers: { authorization: `Bearer ${token}` } })
  return { url, ask, stop: () => serving.kill("SIGTERM"), [Symbol.asyncDispose]: () => serving[Symbol.asyncDispose]() }
}

const packs = { PAWL_PACKS: "./books.ts" }
const loan = { title: "Dune", lent_to: "Grace" }

const rows = () => {
  using db = new DatabaseSync(join(data, "pawl.db"), { readOnly: true })
  return db.prepare("SELECT title, lent_to FROM pack_books_loan").all()
}

test("the pack of docs/recipes/write-a-pack.md goes from its file to an approved row, which survives the server and is erased with its person", async () => {
  {
    await using server = await serve(packs)
    const env = { ...process.env, PAWL_URL: server.url, PAWL_TOKEN: token }
    const { stdout } = await run(process.execPath, [join(folder, "try.ts")], { env })
    expect(stdout).toBe(printed)
    expect((await server.stop()).code).toBe(0)
  }
  expect(rows()).toEqual([loan])
  {
    await using server = await serve(packs)
    const listed = await (await server.ask("GET", "/api/packs/books/loans")).json()
    expect(listed).toEqual({ items: [{ id: expect.stringMatching(/^call_/), ...loan }] })
    // Undone like any write: by a proposal, which stays pending here.
    const { items } = (await (await server.ask("GET", "/api/agent/audit")).json()) as { items: { id: string }[] }
    const undo = await server.ask("POST", `/api/agent/audit/${items[0]?.id}/undo`)
    expect([undo.status, await undo.json()]).toMatchObject([201, { summary: "Dune is back", status: "pending" }])
    await server.stop()
  }
  // The pack is gone, and its rows still belong to the person.
  await using server = await serve({})
  expect((await server.ask("GET", "/api/packs/books/loans")).status).toBe(404)
  const lines = (await (await server.ask("GET", "/api/export")).text()).trimEnd().split("\n")
  const kept = lines
    .map((line) => JSON.parse(line) as { kind: string })
    .filter(({ kind }) => kind === "pack_books_loan")
  expect(kept).toEqual([{ kind: "pack_books_loan", id: expect.any(String), title: "Dune", lentTo: "Grace" }])
  expect((await server.ask("DELETE", "/api/me")).status).toBe(204)
  await server.stop()
  expect(rows()).toEqual([])
}, 120_000)

test("exec uses the agent of the page, and shows the page's errors in the same words", async () => {
  const settings = { PAWL_DATA: dataFolder(), ...packs }
  const say = (words: string) =>
    new PawlProcess(["exec", words, "--agent", "librarian", "--mode", "auto"], settings, { cwd: folder }).ended
  expect((await say("lend Emma to Bob")).stdout).toBe("Emma is lent to Bob.\n")
  expect((await say("list loans")).stdout).toContain("Emma: Bob\n")

  const [, sentence] = /## What can go wrong[\s\S]*?```text\n([\s\S]*?)```/.exec(page) ?? []
  const code = files.find(({ name }) => name === "books.ts")?.code ?? ""
  const broken = code.replace(/"CREATE TABLE pack_books_loan [^"]*"/, '"CREATE TABLE loans (id TEXT)"')
  await writeFile(join(folder, "broken.ts"), broken)
  const refused = await new PawlProcess(["serve"], { ...settings, PAWL_PACKS: "./broken.ts" }, { cwd: folder }).ended
  expect([refused.code, refused.stderr]).toEqual([1, sentence?.replace("./books.ts", "./broken.ts")])
}, 120_000)

test("a pack in a CommonJS package, which is what `npm init` creates, is refused with the command that fixes it", async () => {
  const cwd = join(folder, "commonjs")
  await mkdir(cwd)
  await writeFile(join(cwd, "package.json"), `{ "type": "commonjs" }`)
  await writeFile(join(cwd, "books.ts"), files.find(({ name }) => name === "books.ts")?.code ?? "")
  const { code, stderr } = await new PawlProcess(["serve"], { PAWL_DATA: dataFolder(), ...packs }, { cwd }).ended
  expect([code, stderr]).toEqual([1, expect.stringContaining(`run \`npm pkg set type=module\` in ${cwd}. To fix it`)])
}, 120_000)
