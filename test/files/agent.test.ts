import { execFileSync } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"

import { readConfig } from "../../apps/cli/settings/config.ts"
import { type EmbeddedServer, openEmbedded } from "../../apps/cli/open/embedded.ts"
import { dataFolder } from "../support/processes/pawl-process.ts"
import { isReal } from "../support/files/commands.ts"
import { hasGit, isGone, NO_GIT } from "../support/processes/processes.ts"

const SECRETS = { OPENAI_API_KEY: "sk-never-shown", MY_PASSWORD: "never-shown" }

interface Place extends AsyncDisposable {
  readonly root: string
  readonly data: string
  readonly embedded: EmbeddedServer
  say(text: string, mode?: "read-only" | "confirm" | "auto"): Promise<string>
  /** Sends a message, approves its proposals, and returns the last reply. */
  agree(text: string): Promise<string>
  decide(proposalIds: string[]): Promise<void>
  settled(): Promise<void>
  id(mode?: "read-only" | "confirm" | "auto"): Promise<string>
}

/** A folder with some files, an embedded Pawl over it, and the offline model. */
async function openPlace(files: Record<string, string | Buffer> = {}): Promise<Place> {
  const [root, data] = [dataFolder(), dataFolder()]
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, dirname(path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  const config = readConfig({ PATH: process.env.PATH, HOME: data, PAWL_DATA: data, PAWL_MODEL: "offline", ...SECRETS })
  const embedded = await openEmbedded(config, { dir: root })
  const ids = new Map<string, string>()
  const { client } = embedded
  async function id(mode: "read-only" | "confirm" | "auto" = "confirm"): Promise<string> {
    const known = ids.get(mode)
    if (known) return known
    const made = await client.createConversation({ body: { agent: "files", mode } })
    ids.set(mode, made.id)
    return made.id
  }
  async function say(text: string, mode?: "read-only" | "confirm" | "auto"): Promise<string> {
    const to = await id(mode)
    for await (const _ of client.run(to, text)) void _
    return lastWords(to)
  }
  async function lastWords(to: string): Promise<string> {
    const { messages } = await client.readConversation({ params: { id: to } })
    return messages.findLast(({ role }) => role === "assistant")?.content ?? ""
  }
  async function agree(text: string): Promise<string> {
    const before = await say(text)
    const { proposals } = await client.readConversation({ params: { id: await id() } })
    if (proposals.length === 0) return before
    await decide(proposals.map((proposal) => proposal.id))
    return lastWords(await id())
  }
  async function decide(proposalIds: string[]): Promise<void> {
    for (const proposal of proposalIds) await client.commitProposal({ params: { id: proposal } })
    await settled()
  }
  /** The model has sent its last reply. */
  async function settled(): Promise<void> {
    for await (const { type } of client.events(await id())) {
      if (type !== "done" && type !== "error") continue
      // It may be the end of a previous run.
      const { items } = await client.listRuns({ params: { id: await id() }, query: { limit: 1 } })
      if (items[0]?.status === "completed") return
    }
  }
  return { root, data, embedded, say, agree, decide, id, settled, [Symbol.asyncDispose]: () => embedded.close() }
}

const open = (place: Place) =>
  place.id().then(async (id) => (await place.embedded.client.readConversation({ params: { id } })).proposals)

test("the offline model lists, finds, reads and searches on plain requests", async () => {
  await using place = await openPlace({
    "README.md": "# Hello\nTODO: more\n",
    "src/a.ts": "export const a = 1\n",
    "src/b.ts": "// TODO\n",
    "node_modules/x/index.js": "TODO",
    ".gitignore": "node_modules/\n",
  })
  expect(await place.say("list the files")).toContain("README.md (19 bytes)")
  expect(await place.say("list files in src")).toBe("a.ts (19 bytes)\nb.ts (8 bytes)")
  expect(await place.say("find *.ts")).toBe("src/a.ts\nsrc/b.ts")
  expect(await place.say("read README.md")).toBe("# Hello\nTODO: more")
  expect(await place.say("show src/a.ts")).toBe("export const a = 1")
  const found = await place.say("search for TODO")
  expect(found).toBe("README.md:2: TODO: more\nsrc/b.ts:1: // TODO")
  expect(await place.say("Which files mention TODO?")).toBe(found) // without the question mark
  expect(await place.say("read ../../etc/passwd")).toContain("outside the work folder")
})

test("an edit of text with hidden characters reports them, because the model was shown a placeholder", async () => {
  await using place = await openPlace({ "a.txt": "pay\u{E0061}\u{E0062}\u{E0063}now\n" })
  const said = await place.say("replace pay⟨3 hidden characters⟩now with later in a.txt")
  expect(said).toContain("hidden characters there")
  expect(await place.say("replace something with later in a.txt")).toContain("does not hold that text")
})

test("a proposal hides our secrets that are in the file, and leaves them in the file", async () => {
  const text = `OPENAI_API_KEY=${SECRETS.OPENAI_API_KEY}\nDEBUG=0\n`
  await using place = await openPlace({ "settings.env": text })
  await place.say("replace DEBUG=0 with DEBUG=1 in settings.env")
  const [proposal] = await open(place)
  expect(proposal?.diff).toMatchObject({ after: { text: "OPENAI_API_KEY=[hidden]\nDEBUG=1\n" } })
  await place.embedded.client.commitProposal({ params: { id: proposal!.id } })
  expect(readFileSync(join(place.root, "settings.env"), "utf8")).toBe(text.replace("0", "1"))
})

test("edits are proposed with their diff, applied when approved, and undone byte by byte", async () => {
  const odd = Buffer.from([0, 255, 1, 254, 13, 10])
  await using place = await openPlace({ "a.txt": "one\r\ntwo\r\n", "b.bin": odd })
  chmodSync(join(place.root, "a.txt"), 0o640)
  chmodSync(join(place.root, "b.bin"), 0o600)
  const { client } = place.embedded
  await place.say("replace two with three in a.txt")
  const [proposal] = await open(place)
  expect(proposal).toMatchObject({
    tool: "edit_file",
    action: "safe_update",
    undoable: true,
    diff: { before: { path: "a.txt", text: "one\r\ntwo\r\n" }, after: { path: "a.txt", text: "one\r\nthree\r\n" } },
  })
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("one\r\ntwo\r\n")
  await client.commitProposal({ params: { id: proposal!.id } })
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("one\r\nthree\r\n")
  expect(statSync(join(place.root, "a.txt")).mode & 0o777).toBe(0o640)
  expect(await place.agree("delete b.bin")).toBe("b.bin is deleted.")
  expect(await place.agree("create c.txt with hello")).toBe("c.txt is written.")
  expect(await place.agree("rename c.txt to d.txt")).toBe("c.txt is d.txt now.")
  expect(await place.agree("create directory deep/er")).toBe("deep/er is made.")
  expect(readdirSync(place.root).sort()).toEqual(["a.txt", "d.txt", "deep"])

  // Undoes everything, newest first.
  const { items } = await client.listAudit()
  for (const { id } of items) {
    const proposal = await client.undoWrite({ params: { id } })
    expect((await client.commitProposal({ params: { id: proposal.id } })).status).toBe("applied")
    await place.settled()
  }
  expect(readdirSync(place.root).sort()).toEqual(["a.txt", "b.bin"])
  expect(readFileSync(join(place.root, "b.bin")).equals(odd)).toBe(true)
  expect(statSync(join(place.root, "b.bin")).mode & 0o777).toBe(0o600)
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("one\r\ntwo\r\n")
  expect(statSync(join(place.root, "a.txt")).mode & 0o777).toBe(0o640)
})

test("changes to files that configure or run code are asked about in auto mode, by any path", async () => {
  await using place = await openPlace({
    ".git/HEAD": "ref: refs/heads/main\n",
    "AGENTS.md": "Be kind.\n",
    "a.txt": "a\n",
  })
  symlinkSync(".git", join(place.root, "g"))
  symlinkSync(".git/hooks-to-be", join(place.root, "dangling"))
  const { client } = place.embedded
  const pending = async () => {
    const { proposals } = await client.readConversation({ params: { id: await place.id("auto") } })
    for (const { id } of proposals) await client.rejectProposal({ params: { id } })
    return proposals.map(({ tool, summary }) => `${tool} ${/always asked/.test(summary)}`)
  }
  const asked = [
    ...[
      "replace kind with cruel in AGENTS.md",
      "delete AGENTS.md",
      "rename AGENTS.md to b.md",
      "rename a.txt to CLAUDE.md",
    ],
    ...["create .git/hook with x", "create g/hook with x", "create dangling with x", "create .GitHub with x"],
    ...[
      "create .bashrc with x",
      "create .pawl with x",
      "create directory .github/workflows",
      "create .gitlab-ci.yml with x",
    ],
  ]
  for (const text of asked) {
    await place.say(text, "auto")
    expect(await pending(), text).toEqual([expect.stringMatching(/ true$/)])
  }
  expect(readFileSync(join(place.root, "AGENTS.md"), "utf8")).toBe("Be kind.\n")
  expect(readdirSync(join(place.root, ".git"))).toEqual(["HEAD"])
  // Everything else is applied at once.
  expect(await place.say("create free.txt with x", "auto")).toBe("free.txt is written.")
  expect(await pending()).toEqual([])
})

test("a proposal is stale if the file has changed since, and nothing is written", async () => {
  await using place = await openPlace({ "a.txt": "one two\n" })
  await place.say("replace two with three in a.txt")
  const [proposal] = await open(place)
  writeFileSync(join(place.root, "a.txt"), "two four\n")
  const { client } = place.embedded
  const deciding = client.commitProposal({ params: { id: proposal!.id } })
  await expect(deciding).rejects.toMatchObject({ code: "proposal_stale" })
  expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("two four\n")
})

test("unusual but legal names work and are shown escaped", async () => {
  await using place = await openPlace({
    "..foo": "a",
    "-rf": "b",
    "new\nline": "c",
    "\u001b[31mred": "d",
    "rtl\u202etxt": "e",
  })
  const listed = await place.say("list the files")
  expect(listed.split("\n").sort()).toEqual(
    [
      "..foo (1 bytes)",
      "-rf (1 bytes)",
      '"new\\nline" (1 bytes)',
      '"\\u001b[31mred" (1 bytes)',
      '"rtl\\u202etxt" (1 bytes)',
    ].sort(),
  )
  expect(await place.say("read ..foo")).toBe("a")
  expect(await place.say("read -rf")).toBe("b")
  expect(await place.agree("delete -rf")).toBe("-rf is deleted.")
  expect(await place.agree("delete new\nline")).toBe('"new\\nline" is deleted.')
  expect(readdirSync(place.root).sort()).toEqual(["\u001b[31mred", "..foo", "rtl\u202etxt"].sort())
})

test("a file in missing directories is one proposal, which names them; protected paths still need approval", async () => {
  await using place = await openPlace({})
  const { client } = place.embedded
  await place.say("write hello to new/deep/a.txt")
  const { proposals } = await client.readConversation({ params: { id: await place.id() } })
  expect(proposals.map(({ summary }) => summary)).toEqual([
    "Create new/deep/a.txt (6 bytes), and the directory new/deep for it",
  ])
  expect(readdirSync(place.root)).toEqual([])
  await place.decide(proposals.map(({ id }) => id))
  expect(readFileSync(join(place.root, "new/deep/a.txt"), "utf8")).toBe("hello\n")
  const absolute = join(place.root, "new/other/b.txt")
  expect(await place.say(`write hello to ${absolute}`, "auto")).toContain("new/other/b.txt is written")
  for (const path of ["none/../x", "../x/y", "/nonexistent/x/y", `${place.root}/../x/y`])
    expect(await place.say(`write hello to ${path}`, "auto"), path).toContain("I have changed nothing.")
  await place.say("write hello to .github/workflows/x.yml", "auto")
  const inAuto = await client.readConversation({ params: { id: await place.id("auto") } })
  expect(inAuto.proposals.map(({ summary }) => summary)).toEqual([expect.stringContaining("always asked about")])
  expect(readdirSync(place.root)).toEqual(["new"])
})

test("a command sees no secret, ends with all processes that it started, and reports if it had no sandbox", async () => {
  await using place = await openPlace({})
  const { client } = place.embedded
  // In auto mode too: without a sandbox it could reach all that is always asked about. In one, it cannot.
  await place.say("run env", "auto")
  const { proposals } = await client.readConversation({ params: { id: await place.id("auto") } })
  expect(proposals).toHaveLength(isReal ? 0 : 1)
  if (!isReal) expect(proposals[0]?.summary).toMatch(/^Run, at most 30 s, without a sandbox[\s\S]*: env$/)
  const seen = await place.agree("run env; cat; sleep 600 & echo $!; exit 3")
  expect(seen).toContain("Exit code 3.")
  expect(seen).not.toContain("never-shown")
  expect(seen).not.toContain("PAWL")
  // In a sandbox its process id is valid only there, and the sandbox ends its remaining processes.
  const [, pid] = /^(\d+)$/m.exec(seen) ?? []
  if (!isReal) await expect.poll(() => isGone(Number(pid))).toBe(true)
  const long = await place.agree("run seq 1 100000")
  expect(long).toContain("bytes left out")
  expect(long).toMatch(/\n1\n2\n[\s\S]*\n100000$|\n100000\n/)
})

test("a hostile repository runs nothing and shows nothing from outside the folder", async ({ skip }) => {
  skip(!hasGit, NO_GIT)
  await using place = await openPlace({ "a.txt": "one\n", "b.txt": "two\n" })
  const { root } = place
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], {
      cwd: root,
      stdio: "pipe",
    })
  git("init", "-q", "-b", "main")
  git("add", ".")
  git("commit", "-q", "-m", "The first \u001b[31mone")
  const trap = join(place.data, "trap.sh")
  const sprung = join(place.data, "sprung")
  writeFileSync(trap, `#!/bin/sh\necho "$0 $*" >> ${sprung}\ncat\n`)
  chmodSync(trap, 0o755)
  const outside = join(place.data, "outside")
  mkdirSync(outside)
  writeFileSync(join(outside, "a.txt"), "SECRET\n")
  writeFileSync(
    join(root, ".git", "config"),
    `[core]\nrepositoryformatversion = 0\nworktree = ${outside}\nfsmonitor = ${trap}\npager = ${trap}\nhooksPath = ${place.data}\n` +
      `sshCommand = ${trap}\nalternateRefsCommand = ${trap}\n[diff]\nexternal = ${trap}\n[diff "x"]\ncommand = ${trap}\ntextconv = ${trap}\n` +
      `[filter "x"]\nclean = ${trap}\nsmudge = ${trap}\nprocess = ${trap}\nrequired = true\n[log]\nshowSignature = true\n[gpg]\nprogram = ${trap}\n` +
      `[include]\npath = ${outside}/a.txt\n[alias]\nlog = !${trap}\ndiff = !${trap}\nls-files = !${trap}\n`,
  )
  writeFileSync(join(root, ".gitattributes"), "* filter=x diff=x\n")
  mkdirSync(join(root, ".git", "info"), { recursive: true })
  writeFileSync(join(root, ".git", "info", "attributes"), "* filter=x diff=x\n")
  writeFileSync(join(root, "a.txt"), "one more\n")
  const diff = await place.say("git diff")
  expect(diff).toContain("-one\n+one more")
  expect(diff).toContain("Not known to git:\n.gitattributes")
  expect(diff).not.toContain("b.txt")
  expect(diff).not.toContain("SECRET")
  expect(await place.say("show the git log")).toMatch(/^[0-9a-f]+ \S+ Ada: The first \\u001b\[31mone$/)
  expect(await place.say("what is staged")).toBe("Nothing is staged.")
  expect(existsSync(sprung)).toBe(false)
})

test("a conversation of one folder does nothing in another", async () => {
  await using place = await openPlace({ "a.txt": "mine\n" })
  await place.say("read a.txt")
  await place.say("delete a.txt")
  const id = await place.id()
  await place.embedded.close()
  const other = dataFolder()
  writeFileSync(join(other, "a.txt"), "mine\n")
  const config = readConfig({ PATH: process.env.PATH, HOME: place.data, PAWL_DATA: place.data })
  await using elsewhere = await openEmbedded(config, { dir: other })
  const { proposals } = await elsewhere.client.readConversation({ params: { id } })
  const deciding = elsewhere.client.commitProposal({ params: { id: proposals[0]!.id } })
  await expect(deciding).rejects.toMatchObject({ code: "proposal_stale" })
  expect(existsSync(join(other, "a.txt"))).toBe(true)
  for await (const _ of elsewhere.client.run(id, "read a.txt")) void _
  const { messages } = await elsewhere.client.readConversation({ params: { id } })
  expect(messages.at(-1)?.content).toContain("This conversation works in")
})
