import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { z } from "zod"
import { fileRefusal } from "../folder/folder.ts"
import { readSkill, type Skill } from "./skill.ts"

const Record = z.object({
  description: z.string(),
  hash: z.string().regex(/^[0-9a-f]{64}$/),
  /** Its folder, or its git repository and commit, for people. */
  origin: z.string(),
  /** The person trusts its author: its text is not treated as untrusted content. */
  trusted: z.boolean(),
  approvedBy: z.string(),
  approvedAt: z.number(),
})
const Records = z.record(z.string(), Record)

/** A skill as the person approved it. */
export type SkillRecord = z.infer<typeof Record> & { readonly name: string }

/**
 * The skills that a person has approved. Each is a copy of what was shown, in a folder named by its hash, so a later change
 * of its source is not used until the person approves that too.
 */
export class InstalledSkills {
  readonly #folder: string

  constructor(dataFolder: string) {
    this.#folder = join(dataFolder, "skills")
  }

  get all(): readonly SkillRecord[] {
    return Object.entries(this.#records).map(([name, record]) => ({ name, ...record }))
  }

  find(name: string): SkillRecord | undefined {
    return this.all.find((each) => each.name === name)
  }

  folderOf({ name, hash }: Pick<SkillRecord, "name" | "hash">): string {
    return join(this.#folder, name, hash)
  }

  /** Refuses a copy that is not what the person approved. */
  async open(name: string): Promise<Skill & Pick<SkillRecord, "trusted">> {
    const record = this.find(name)
    if (!record) {
      const choices = this.all.map((each) => each.name).join(", ") || "none"
      throw fileRefusal(`There is no skill ${JSON.stringify(name)}, only: ${choices}`)
    }
    const folder = this.folderOf(record)
    const skill = existsSync(folder) ? await readSkill(folder) : undefined
    if (skill?.hash !== record.hash || skill.name !== name)
      throw fileRefusal(
        `The skill ${name} is not what the person approved. They can add it again with \`pawl skills add\``,
      )
    return { ...skill, trusted: record.trusted }
  }

  /** The copy is complete before the record names it: a crash in between leaves the previous version in use. */
  add({ name, description, hash, files }: Skill, by: Omit<SkillRecord, "name" | "description" | "hash">): void {
    const draft = join(this.#folder, `.draft-${process.pid}`)
    rmSync(draft, { recursive: true, force: true })
    for (const { path, bytes, isExecutable } of files) {
      const copy = join(draft, path)
      mkdirSync(dirname(copy), { recursive: true, mode: 0o700 })
      writeFileSync(copy, bytes, { mode: isExecutable ? 0o700 : 0o600 })
    }
    const place = this.folderOf({ name, hash })
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    rmSync(place, { recursive: true, force: true })
    renameSync(draft, place)
    this.#write({ ...this.#records, [name]: { description, hash, ...by } })
    this.#removeOthers(name, hash)
  }

  /** Returns false if there is no such skill. */
  remove(name: string): boolean {
    const { [name]: removed, ...others } = this.#records
    if (!removed) return false
    this.#write(others)
    this.#removeOthers(name)
    return true
  }

  #removeOthers(name: string, hash?: string): void {
    const folder = join(this.#folder, name)
    for (const each of readdirSync(folder))
      if (each !== hash) rmSync(join(folder, each), { recursive: true, force: true })
  }

  get #records(): z.infer<typeof Records> {
    const file = join(this.#folder, "skills.json")
    if (!existsSync(file)) return {}
    const { data } = Records.safeParse(JSON.parse(readFileSync(file, "utf8")))
    if (data) return data
    throw fileRefusal(`${file} is damaged. Delete it and add the skills again`)
  }

  #write(records: z.infer<typeof Records>): void {
    const file = join(this.#folder, "skills.json")
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${JSON.stringify(records, undefined, 2)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  }
}
