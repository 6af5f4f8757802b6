import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { isReal, open, place, scratch } from "../../../test/support/files/commands.ts"
import { repositoryOf } from "./repository.ts"
import { findSandbox } from "./sandbox.ts"

const HOME = "/nonexistent"

function git(cwd: string, ...words: string[]): void {
  const settings = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "protocol.file.allow=always"]
  const { status, stderr } = spawnSync("git", [...settings, ...words], {
    cwd,
    encoding: "utf8",
    env: { PATH: process.env.PATH },
  })
  expect(status, stderr).toBe(0)
}

/** A repository with a subfolder, a linked worktree and a submodule. */
function repository() {
  const all = realpathSync(scratch())
  const [main, worktree, other] = [join(all, "main"), join(all, "worktree"), join(all, "other")]
  for (const path of [main, other]) {
    mkdirSync(join(path, "sub"), { recursive: true })
    writeFileSync(join(path, "sub/a.txt"), "one\n")
    git(path, "init", "-q")
    git(path, "config", "user.name", "Ada")
    git(path, "config", "user.email", "ada@example.org")
    git(path, "add", ".")
    git(path, "commit", "-qm", "first")
  }
  git(main, "worktree", "add", "-q", worktree, "-b", "side")
  git(main, "submodule", "add", "-q", other, "module")
  return {
    all,
    main,
    worktree,
    subfolder: join(main, "sub"),
    submodule: join(main, "module"),
    data: join(main, ".git"),
  }
}

test("the repository of a subfolder, a linked worktree and a submodule is found; one in the folder is not mounted separately", () => {
  const { main, worktree, subfolder, submodule, data } = repository()
  expect(repositoryOf(main, HOME)).toBeUndefined()
  expect(repositoryOf(subfolder, HOME)).toEqual({ top: main, gitDirectory: data, common: data })
  const linked = join(data, "worktrees/worktree")
  expect(repositoryOf(worktree, HOME)).toEqual({ top: worktree, gitDirectory: linked, common: data })
  expect(repositoryOf(join(worktree, "sub"), HOME)).toMatchObject({ top: worktree, common: data })
  const module = join(data, "modules/module")
  expect(repositoryOf(submodule, HOME)).toEqual({ top: submodule, gitDirectory: module, common: module })
  expect(repositoryOf(subfolder, main), "never the home folder, nor what holds it").toBeUndefined()
})

test("a .git file counts only if git's own data names its folder too", () => {
  const { all, worktree, data } = repository()
  const forged = (text: string) => {
    const root = realpathSync(scratch())
    writeFileSync(join(root, ".git"), text)
    return repositoryOf(root, HOME)
  }
  expect(forged(`gitdir: ${data}\n`)).toBeUndefined()
  expect(forged(`gitdir: ${data}/worktrees/worktree\n`)).toBeUndefined()
  expect(forged(`gitdir: ${all}\n`)).toBeUndefined()
  expect(forged("gitdir: /etc\n")).toBeUndefined()
  expect(forged("nothing")).toBeUndefined()
  const linking = realpathSync(scratch())
  symlinkSync(data, join(linking, ".git"))
  expect(repositoryOf(linking, HOME)).toBeUndefined()
  expect(repositoryOf(worktree, HOME)).toBeDefined()
})

const real = test.runIf(isReal)

const LOOK = "git status --short && git log --format=%s && git show HEAD:sub/a.txt"

real.each(["subfolder", "worktree"] as const)(
  "in a %s git looks, and a commit needs a yes to what is always asked about",
  async (which) => {
    const { all, main, data, ...found } = repository()
    const root = found[which]
    writeFileSync(join(root, "new.txt"), "new\n")
    writeFileSync(join(all, "private"), "hush\n")
    const sandbox = findSandbox(place({ root, homes: scratch() }))
    expect(sandbox.description).toContain(`its git repository (${data})`)
    const { run } = open(sandbox, { root })
    const looked = await run({ command: `${LOOK}; cat ${all}/private` })
    expect(looked.text).toMatch(/new\.txt\nfirst\none\n/)
    expect(looked.text).not.toContain("hush")
    const commit = "git add . && git commit -qm second && git log --format=%s"
    const refused = await run({ command: commit })
    expect(refused.text).toMatch(/Read-only file system[^]*run it again with changes_protected: true\.\]/)
    const done = await run({ command: commit, changes_protected: true })
    expect(done.text, done.text).toMatch(/second\nfirst/)
    git(root, "status") // outside, it is a repository as before
  },
)

real.each(["subfolder", "worktree"] as const)(
  "in a %s no command changes what git obeys, with that yes neither",
  async (which) => {
    const { main, data, ...found } = repository()
    const root = found[which]
    const { run } = open(findSandbox(place({ root, homes: scratch() })), { root })
    const before = readFileSync(join(data, "config"), "utf8")
    const hooks = readdirSync(join(data, "hooks"))
    const gitDirectory = which === "worktree" ? join(data, "worktrees/worktree") : data
    const tries = [
      `echo '[core]' >> ${data}/config`,
      `echo evil > ${data}/hooks/post-commit`,
      `mv ${data}/hooks ${data}/away`,
      `mv ${data} ${data}2`,
      `mv ${data}/worktrees ${data}/worktrees2`,
      `mv ${gitDirectory} ${gitDirectory}2`,
      `cp ${data}/config ${data}/config.lock; mv ${data}/config.lock ${data}/config`,
      `echo ${root} > ${gitDirectory}/commondir`,
      `echo '[core]' > ${gitDirectory}/config.worktree`,
      `echo x > ${data}/info/attributes`,
      `echo x > ${main}/planted`,
    ]
    await run({ command: tries.map((each) => `(${each}) 2>&1`).join("; "), changes_protected: true })
    expect(readFileSync(join(data, "config"), "utf8")).toBe(before)
    expect(readdirSync(join(data, "hooks"))).toEqual(hooks)
    expect(existsSync(join(data, "info/attributes"))).toBe(false)
    expect(existsSync(join(main, "planted"))).toBe(false)
    if (which === "worktree") expect(readFileSync(join(gitDirectory, "commondir"), "utf8")).toBe("../..\n")
    else expect(existsSync(join(data, "commondir"))).toBe(false)
    expect(existsSync(join(gitDirectory, "config.worktree"))).toBe(false)
    git(root, "status")
  },
)
