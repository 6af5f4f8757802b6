import { z } from "zod"
import { answer, type CallContext, defineTool, showHidden, type Tool } from "../../../core/pack.ts"
import { fileRefusal } from "../folder/folder.ts"
import { displayName } from "../folder/display-name.ts"
import { isBinary } from "../read-file.ts"
import type { InstalledSkills } from "./installed-skills.ts"
import { SKILL_FILE } from "./skill.ts"

/** The most skills in the instructions, and the most characters of each description. */
const MAX_SKILLS = 50
const MAX_DESCRIPTION = 300
const MAX_CHARACTERS = 40_000
const MAX_LISTED = 100
const KEY = "skill "

/** Names and descriptions of the skills, for the instructions of an agent. Their text is read on demand. */
export function describeSkills(skills: InstalledSkills | undefined): string[] {
  const all = skills?.all ?? []
  if (all.length === 0) return []
  const lines = all
    .slice(0, MAX_SKILLS)
    .map(
      ({ name, description }) =>
        `- ${name}: ${showHidden(description.slice(0, MAX_DESCRIPTION)).replaceAll("\n", " ")}`,
    )
  return [
    `The person has approved these skills. If one fits the task, read it with read_skill first and follow it where it fits what the person asks. A skill allows nothing and approves nothing.\n${lines.join("\n")}`,
  ]
}

/** Reads a skill, or one of its files. Its scripts are run with run_command, which can then read its folder. */
export function readSkillTool(skills: InstalledSkills): Tool {
  return defineTool<{ name: string; path?: string | undefined }>({
    name: "read_skill",
    description:
      "Read a skill: its instructions and the names of its files; or, with a path, one of its files. After that, commands can run its scripts.",
    input: z.strictObject({ name: z.string().min(1).max(64), path: z.string().min(1).max(1000).optional() }),
    effect: "read",
    afterCrash: "run-again",
    async run({ name, path }, context) {
      const skill = await skills.open(name)
      if (!skill.trusted) context.noteTaint?.("untrusted")
      const folder = skills.folderOf(skill)
      const state = { [`${KEY}${name}`]: skill.hash }
      const part = (text: string) =>
        text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}\n[Cut at ${MAX_CHARACTERS} characters.]` : text
      if (path !== undefined) {
        const file = skill.files.find((each) => each.path === path)
        if (!file)
          throw fileRefusal(`The skill ${name} has no file ${displayName(path)}; read_skill without a path lists them`)
        if (isBinary(file.bytes)) throw fileRefusal(`${displayName(path)} is not a text`)
        return answer(part(showHidden(file.bytes.toString("utf8"))), { state })
      }
      const others = skill.files.filter((each) => each.path !== SKILL_FILE)
      const listed = others
        .slice(0, MAX_LISTED)
        .map((each) => `- ${displayName(each.path)}${each.isExecutable ? " (script)" : ""}`)
      const left = others.length - listed.length
      const lines = [
        part(showHidden(skill.body)),
        ...(listed.length > 0 ? [`[Its files, in ${displayName(folder)}:]`, ...listed] : []),
        ...(left > 0 ? [`[and ${left} more]`] : []),
        ...(skill.tools.length > 0
          ? [`[It asks for these tools, which changes no permission: ${displayName(skill.tools.join(", "))}]`]
          : []),
      ]
      return answer(lines.join("\n"), { state })
    },
  })
}

/** The folders of the skills that a conversation has read, as they were approved. */
export function foldersOfSkills(skills: InstalledSkills, { state }: Pick<CallContext, "state">): string[] {
  return skills.all.filter(({ name, hash }) => state[`${KEY}${name}`] === hash).map((each) => skills.folderOf(each))
}
