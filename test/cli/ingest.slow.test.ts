import { execFileSync } from "node:child_process"
import { copyFileSync, existsSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, test, vi } from "vitest"
import { ProviderServer } from "../../core/models/providers/server.fixture.ts"
import { command } from "../support/processes/commands.ts"
import { dataFolder, pawl, PawlProcess } from "../support/processes/pawl-process.ts"

vi.setConfig({ testTimeout: 180_000 })

function place(more: Record<string, string> = {}) {
  const [folder, data] = [dataFolder(), dataFolder()]
  const environment = { PAWL_DATA: data, ...more }
  const all = ["ingest", folder, "--collection", "Shelf"]
  const ingest = (...words: string[]) => pawl([...all, ...words], environment)
  /** Runs in one process with others, because the start of a process would take most of the time. */
  const ingestAgain = () => command(all, environment)
  return { folder, environment, ingest, ingestAgain }
}

/** Replaces the embedder where its vectors do not matter: the built-in one takes a second to start in each process. */
async function playedEmbedder() {
  const provider = await ProviderServer.open((response, { body }) => {
    const { input, model } = body as { readonly input: readonly string[]; readonly model: string }
    const data = input.map((_, index) => ({ object: "embedding", index, embedding: [1, ...Array(1535).fill(0)] }))
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify({ object: "list", model, data, usage: { prompt_tokens: 1, total_tokens: 1 } }))
  })
  const settings = { OPENAI_API_KEY: "sk-test-0123456789abcdef", OPENAI_BASE_URL: provider.url }
  return { settings, provider, [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() }
}

test.concurrent("pawl ingest takes a folder, skips what it has, replaces what has changed, and names what it cannot read", async () => {
  const { folder, environment, ingest, ingestAgain } = place()
  const paper = { id: "2401.00001", title: "On stall", abstract: "The flow separates.", update_date: "2024-01-02" }
  mkdirSync(join(folder, "deep"))
  writeFileSync(join(folder, "lift.md"), "# Lift\n\nLift grows with the angle of attack.\n")
  writeFileSync(join(folder, "deep", "drag.txt"), "Drag is what slows a wing down.\n")
  writeFileSync(join(folder, "papers.jsonl"), `${JSON.stringify(paper)}\nnonsense\n`)
  writeFileSync(join(folder, "bad\u001b[2J.pdf"), "no pdf")
  writeFileSync(join(folder, "picture.png"), "not taken")
  const first = await ingest()
  expect(first.stdout).toContain("Shelf: 3 added, 0 replaced, 0 unchanged, 2 failed.")
  expect(first.stderr).toContain("it is no PDF, or a broken one")
  expect(first.stdout + first.stderr).not.toContain("\u001b") // a pipe gets no bar, and a name gives no orders
  expect(first.code).toBe(1)

  writeFileSync(join(folder, "lift.md"), "# Lift\n\nLift falls beyond the critical angle.\n")
  const second = await ingestAgain()
  expect(second.stdout).toContain("Shelf: 0 added, 1 replaced, 2 unchanged, 2 failed.")
  const asked = await command(
    ["exec", "--agent", "research", "what do my documents say about the critical angle?"],
    environment,
  )
  expect(asked.stdout).toContain("“Lift falls beyond the critical angle.”")
  expect((await command(["ingest", join(folder, "nothing")], environment)).stderr).toContain(
    "There is no file or folder",
  )
  // No process writes to this pipe, so reading it would never end.
  execFileSync("mkfifo", [join(folder, "pipe.md")])
  expect((await command(["ingest", join(folder, "pipe.md")], environment)).stderr).toContain(
    "neither a file nor a folder",
  )
})

test.concurrent("a folder is the same under any path, and a copy of a file is that file", async () => {
  await using embedder = await playedEmbedder()
  const { folder, environment } = place(embedder.settings)
  const paper = join(folder, "papers")
  mkdirSync(paper)
  writeFileSync(join(paper, "lift.md"), "# Lift\n\nLift grows.\n")
  writeFileSync(join(paper, "wing.md"), "# Wing\n\nIt bends.\n")
  symlinkSync(paper, join(folder, "link"))
  const from = (cwd: string, ...words: string[]) =>
    command(["ingest", ...words, "--collection", "Shelf"], environment, "", cwd)
  expect((await from(folder, "papers")).stdout).toContain("Shelf: 2 added, 0 replaced, 0 unchanged, 0 failed.")
  for (const [cwd, path] of [
    [paper, "."],
    [paper, "lift.md"],
    [tmpdir(), paper],
    [folder, "link"],
  ] as const)
    expect((await from(cwd, path)).stdout).toMatch(/Shelf: 0 added, 0 replaced, [12] unchanged, 0 failed\./)

  // The copy comes first, and then its original changes: both are in.
  copyFileSync(join(paper, "lift.md"), join(paper, "a-copy.md"))
  writeFileSync(join(paper, "lift.md"), "# Lift\n\nLift falls.\n")
  const { stdout } = await from(paper, ".")
  expect(stdout).toContain("Shelf: 1 added, 1 replaced, 1 unchanged, 0 failed.")
  expect((await from(folder, "link")).stdout).toContain("Shelf: 0 added, 0 replaced, 3 unchanged, 0 failed.")
})

test.concurrent("a file that is too large or unreadable is named, and the next one is read", async () => {
  await using embedder = await playedEmbedder()
  const { folder, ingest } = place(embedder.settings)
  writeFileSync(join(folder, "a.txt"), "")
  truncateSync(join(folder, "a.txt"), 65 * 1024 * 1024)
  writeFileSync(join(folder, "b.jsonl"), "x".repeat(17 * 1024 * 1024))
  writeFileSync(join(folder, "z.md"), "# Lift\n\nLift grows.\n")
  const memory = "/proc/self/mem" // exists, but no process may read it
  const { code, stdout, stderr } = await ingest(...(existsSync(memory) ? [memory] : []))
  expect(stdout).toContain("added")
  expect(stderr).toContain("a.txt: larger than 64 MB")
  expect(stderr).toContain("b.jsonl: A line of the file")
  if (existsSync(memory)) expect(stderr).toContain(`${memory}: cannot be read: the disk reported an error`)
  expect([code, stdout]).toEqual([1, expect.stringMatching(/Shelf: 1 added, .* [23] failed/)])
})

test.concurrent("an ingest that is killed resumes: everything is in, nothing twice", async () => {
  await using embedder = await playedEmbedder()
  const { folder, environment, ingest, ingestAgain } = place(embedder.settings)
  const count = 40
  for (let at = 0; at < count; at++)
    writeFileSync(join(folder, `d${at}.md`), `# Document ${at}\n\nWords of number ${at}.\n`)
  const words = ["ingest", folder, "--collection", "Shelf"]
  await using killed = new PawlProcess(words, environment)
  await killed.says(/(?:added .*\n){5}/)
  await killed.kill("SIGKILL")
  const { code, stdout } = await ingest()
  expect(code).toBe(0)
  const [, added, unchanged] = /Shelf: (\d+) added, 0 replaced, (\d+) unchanged, 0 failed\./.exec(stdout) ?? []
  expect(Number(added) + Number(unchanged)).toBe(count)
  expect(Number(unchanged)).toBeGreaterThanOrEqual(4)
  expect((await ingestAgain()).stdout).toContain(`Shelf: 0 added, 0 replaced, ${count} unchanged, 0 failed.`)
  const embedded = embedder.provider.received.flatMap(({ body }) => (body as { input: string[] }).input)
  expect(embedded.filter((text) => text.includes("Words of number")).length).toBeGreaterThanOrEqual(count)
})
