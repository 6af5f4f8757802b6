import { createHash } from "node:crypto"
import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { z } from "zod"
import { fileRefusal } from "../folder/folder.ts"
import { displayName } from "../folder/display-name.ts"

const MAX_FILES = 500
const MAX_BYTES = 10 * 1024 * 1024
const MAX_DEPTH = 8
const MAX_FRONT_MATTER = 20_000

/** The file with a skill's name, description and instructions. */
export const SKILL_FILE = "SKILL.md"

/** The fields of the front matter that are used; others are ignored. */
const FrontMatter = z.object({
  name: z
    .string()
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, "must be lowercase words joined by hyphens")
    .max(64),
  description: z.string().trim().min(1).max(1024),
  "allowed-tools": z.union([z.string().max(2000), z.array(z.string().max(200)).max(100)]).optional(),
})

export interface SkillFile {
  readonly path: string
  readonly bytes: Buffer
  readonly isExecutable: boolean
}

/** Instructions for a kind of task, with references and scripts, in the format of agentskills.io. */
export interface Skill {
  readonly name: string
  readonly description: string
  /** The tools that it asks for. They are shown, but allow nothing. */
  readonly tools: readonly string[]
  /** Its text after the front matter. */
  readonly body: string
  readonly files: readonly SkillFile[]
  /** Over everything that it contains. */
  readonly hash: string
}

/** Reads the skill in a folder. Refuses links, special files, and more than a skill needs. */
export async function readSkill(folder: string): Promise<Skill> {
  const files = readFiles(folder)
  const main = files.find(({ path }) => path === SKILL_FILE)
  if (!main) throw fileRefusal(`${displayName(folder)} has no ${SKILL_FILE}`)
  const text = main.bytes.toString("utf8").replaceAll("\r\n", "\n")
  const [, front, body = ""] = /^---\n([^]*?)\n---(?:\n([^]*))?$/.exec(text) ?? []
  if (front === undefined || front.length > MAX_FRONT_MATTER)
    throw fileRefusal(`${SKILL_FILE} must begin with its front matter between two lines "---"`)
  const { name, description, "allowed-tools": tools = [] } = await parseFrontMatter(front)
  const wanted = typeof tools === "string" ? tools.split(/[\s,]+/).filter(Boolean) : tools
  return { name, description, tools: wanted, body: body.trim(), files, hash: hashOf(files) }
}

async function parseFrontMatter(text: string): Promise<z.infer<typeof FrontMatter>> {
  const { parse } = await import("yaml")
  let given: unknown
  try {
    given = parse(text, { maxAliasCount: 0 })
  } catch {
    throw fileRefusal(`The front matter of ${SKILL_FILE} is not valid YAML`)
  }
  const { data, error } = FrontMatter.safeParse(given)
  if (data) return data
  const [{ path = [], message = "" } = {}] = error.issues
  throw fileRefusal(`The front matter of ${SKILL_FILE}: ${[path.join("."), message].filter(Boolean).join(" ")}`)
}

function readFiles(folder: string): SkillFile[] {
  const files: SkillFile[] = []
  let bytes = 0
  const visit = (directory: string, depth: number) => {
    if (depth > MAX_DEPTH) throw fileRefusal(`A skill has at most ${MAX_DEPTH} levels of folders`)
    for (const entry of readdirSync(join(folder, directory), { withFileTypes: true })) {
      if (directory === "" && entry.name === ".git") continue
      const path = directory === "" ? entry.name : `${directory}/${entry.name}`
      if (entry.isDirectory()) visit(path, depth + 1)
      else files.push(readPart(folder, path))
      bytes += files.at(-1)?.bytes.length ?? 0
      if (files.length > MAX_FILES || bytes > MAX_BYTES)
        throw fileRefusal(`A skill has at most ${MAX_FILES} files and ${MAX_BYTES / 1024 / 1024} MB`)
    }
  }
  visit("", 1)
  return files.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

function readPart(folder: string, path: string): SkillFile {
  // A pipe must not block the process.
  const opened = openSync(join(folder, path), constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const stat = fstatSync(opened)
    if (!stat.isFile() || stat.size > MAX_BYTES)
      throw fileRefusal(`${displayName(path)} is not a file that a skill can have`)
    return { path, bytes: readFileSync(opened), isExecutable: (stat.mode & 0o100) !== 0 }
  } finally {
    closeSync(opened)
  }
}

function hashOf(files: readonly SkillFile[]): string {
  const hash = createHash("sha256")
  for (const { path, bytes, isExecutable } of files)
    hash.update(JSON.stringify([path, isExecutable, createHash("sha256").update(bytes).digest("hex")]))
  return hash.digest("hex")
}
