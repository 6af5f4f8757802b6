import { execFile } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline/promises"
import { promisify } from "node:util"
import { isBinary } from "../../../packs/files/read-file.ts"
import { displayName, withoutControls } from "../../../packs/files/folder/display-name.ts"
import { InstalledSkills } from "../../../packs/files/skills/installed-skills.ts"
import { readSkill, type Skill, SKILL_FILE } from "../../../packs/files/skills/skill.ts"
import { showHidden } from "../../../core/shared/text/show-hidden.ts"
import { skillsText } from "../../strings/skills.ts"
import { CommandError, readFlags, UsageError, userName } from "../process/command.ts"
import { readConfig } from "../settings/config.ts"
import { reportData } from "../settings/warn.ts"
import { makeDataFolder } from "../../../core/compose/open-store.ts"

export const help = skillsText.help

const flags = { trust: { type: "boolean" }, yes: { type: "string", multiple: true } } as const

/** The subfolders for skills in a work folder. */
const PLACES = [".agents/skills", ".claude/skills"]
const CLONE_MS = 120_000
/** The depth below a given folder that is searched for skills. */
const MAX_DEPTH = 4

interface AddOptions {
  readonly trust?: boolean | undefined
  readonly yes?: readonly string[] | undefined
  /** The environment of git. */
  readonly environment: Readonly<Record<string, string>>
}

export async function run(words: readonly string[]): Promise<number> {
  const { values, positionals } = readFlags(words, flags)
  const [action, ...rest] = positionals
  const config = readConfig()
  const skills = new InstalledSkills(config.dataFolder)
  if (action === undefined) return list(skills)
  if (action === "add") {
    reportData(config)
    makeDataFolder(config.dataFolder)
    return add(skills, rest, { ...values, environment: config.commandEnvironment })
  }
  if (action !== "show" && action !== "remove") throw new UsageError(skillsText.unknownAction(action))
  const [name, ...more] = rest
  if (name === undefined || more.length > 0) throw new UsageError(skillsText.missingName)
  if (!skills.find(name)) throw new CommandError(skillsText.unknown(name))
  if (action === "show") print(describe(await skills.open(name)))
  else if (skills.remove(name)) print(skillsText.removed(name))
  return 0
}

async function list(skills: InstalledSkills): Promise<number> {
  const lines = skills.all.flatMap((skill) => [
    safe(skillsText.line(skill)),
    safe(skillsText.origin(skill.origin, skill.approvedBy, new Date(skill.approvedAt).toISOString().slice(0, 10))),
    ...(skill.trusted ? [skillsText.trusted] : []),
  ])
  for (const path of PLACES.flatMap((place) => foldersWithSkills(place))) {
    const skill = await readSkill(path).catch((error: Error) => error)
    if (skill instanceof Error) lines.push(safe(skillsText.unreadableHere(path, skill.message)))
    else if (!skills.find(skill.name)) lines.push(safe(skillsText.newHere(path)))
    else if (skills.find(skill.name)?.hash !== skill.hash) lines.push(safe(skillsText.changedHere(path)))
  }
  print(lines.length > 0 ? `${lines.join("\n")}\n` : skillsText.none)
  return 0
}

async function add(skills: InstalledSkills, [from, ...names]: readonly string[], given: AddOptions): Promise<number> {
  if (from === undefined) throw new UsageError(skillsText.missingFrom)
  await using source = await openSource(from, given.environment)
  const found = await Promise.all(foldersWithSkills(source.folder).map(readSkill))
  if (found.length === 0) throw new CommandError(skillsText.noneThere(from))
  const choices = found.map(({ name }) => name)
  if (names.length === 0 && found.length > 1) throw new CommandError(skillsText.chooseName(from, choices))
  const missing = names.find((name) => !choices.includes(name))
  if (missing !== undefined) throw new CommandError(skillsText.notThere(from, missing, choices))
  let isLeftOut = false
  for (const skill of found.filter(({ name }) => names.length === 0 || names.includes(name)))
    if (!(await addOne(skills, skill, { ...given, origin: source.origin }))) isLeftOut = true
  return isLeftOut ? 1 : 0
}

/** Returns false if the person did not agree. */
async function addOne(
  skills: InstalledSkills,
  skill: Skill,
  { yes = [], trust = false, origin }: AddOptions & { readonly origin: string },
): Promise<boolean> {
  const { name, hash } = skill
  const before = skills.find(name)
  if (before?.hash === hash && before.trusted === trust) {
    print(skillsText.unchanged(name))
    return true
  }
  const known = before && (await skills.open(name).catch(() => undefined))
  print(known ? await describeChange(known, skill) : describe(skill))
  if (!yes.includes(hash)) {
    if (!process.stdin.isTTY) throw new CommandError(skillsText.needsAnswer(name, hash))
    using lines = createInterface({ input: process.stdin, output: process.stdout })
    if (!/^y(es)?$/i.test((await lines.question(skillsText.question)).trim())) {
      print(skillsText.notAdded(name))
      return false
    }
  }
  skills.add(skill, { origin, trusted: trust, approvedBy: userName(), approvedAt: Date.now() })
  print(skillsText.added(name))
  return true
}

interface Source extends AsyncDisposable {
  readonly folder: string
  readonly origin: string
}

/** A folder, or a clone of a git repository that is removed afterwards. */
async function openSource(from: string, environment: AddOptions["environment"]): Promise<Source> {
  if (!/^(https|ssh|file):\/\/|^git@[\w.-]+:/.test(from)) {
    if (!statSync(from, { throwIfNoEntry: false })?.isDirectory()) throw new CommandError(skillsText.noneThere(from))
    return { folder: from, origin: resolve(from), async [Symbol.asyncDispose]() {} }
  }
  const folder = mkdtempSync(join(tmpdir(), "pawl-skills-"))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  // No hooks, no submodules, no helper programs of the URL, and no question for a password.
  const settings = ["-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never", "-c", "core.symlinks=false"]
  try {
    await promisify(execFile)("git", [...settings, "clone", "--quiet", "--depth", "1", "--", from, folder], {
      timeout: CLONE_MS,
      env: { ...environment, GIT_TERMINAL_PROMPT: "0" },
    })
    const head = await promisify(execFile)("git", ["-C", folder, "rev-parse", "HEAD"])
    return { folder, origin: `${from} at ${head.stdout.trim()}`, [Symbol.asyncDispose]: async () => remove() }
  } catch (error) {
    remove()
    const { stderr = "", message } = error as Error & { readonly stderr?: string }
    throw new CommandError(skillsText.cannotClone(from, safe(stderr.trim().split("\n").at(-1) || message)))
  }
}

/** The folders with a SKILL.md, at this one or below it. */
function foldersWithSkills(folder: string, depth = MAX_DEPTH): string[] {
  if (existsSync(join(folder, SKILL_FILE))) return [folder]
  if (depth === 0 || !existsSync(folder)) return []
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ![".git", "node_modules"].includes(entry.name))
    .flatMap(({ name }) => foldersWithSkills(join(folder, name), depth - 1))
}

/** All of a skill, as the person approves it. */
function describe(skill: Skill): string {
  const texts = skill.files.map(({ path, bytes }) =>
    isBinary(bytes)
      ? skillsText.binary(displayName(path))
      : `--- ${displayName(path)}\n${safe(bytes.toString("utf8")).trimEnd()}`,
  )
  return `${[safe(head(skill)), ...texts].join("\n")}\n\n`
}

const head = (skill: Skill) =>
  [
    skillsText.head(skill),
    ...(skill.tools.length > 0 ? [skillsText.tools(skill.tools)] : []),
    [
      skillsText.files(skill.files.length),
      ...skill.files.map(({ path, bytes, isExecutable }) =>
        skillsText.file(displayName(path), bytes.length, isExecutable),
      ),
    ].join("\n"),
    "",
  ].join("")

async function describeChange(before: Skill, after: Skill): Promise<string> {
  const { createTwoFilesPatch } = await import("diff")
  const paths = [...new Set([...before.files, ...after.files].map(({ path }) => path))].toSorted()
  const texts = paths.flatMap((path) => {
    const [old, now] = [before, after].map(({ files }) => files.find((file) => file.path === path))
    if (old && now && old.bytes.equals(now.bytes) && old.isExecutable === now.isExecutable) return []
    if ([old, now].some((file) => file && isBinary(file.bytes))) return [skillsText.binary(displayName(path))]
    const [was = "", is = ""] = [old, now].map((file) => file && safe(file.bytes.toString("utf8")))
    return [
      createTwoFilesPatch(displayName(path), displayName(path), was, is, undefined, undefined, {
        context: 3,
        timeout: 2000,
      }) ?? is,
    ]
  })
  return `${safe(head(after))}\n${skillsText.changes}\n${texts.join("\n")}\n`
}

/** Text of a skill for a terminal: nothing that acts on it, and hidden characters made visible. */
const safe = (text: string) => withoutControls(showHidden(text))

function print(text: string): void {
  process.stdout.write(text)
}
