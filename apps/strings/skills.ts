import { bytesText, plural } from "./plural.ts"

/** The fields of a skill that `pawl skills` shows. */
export interface ShownSkill {
  readonly name: string
  readonly description: string
  readonly hash: string
  readonly tools: readonly string[]
}

/** The command `pawl skills`. */
export const skillsText = {
  help: `Usage: pawl skills
       pawl skills add FROM [NAME…]
       pawl skills show NAME
       pawl skills remove NAME

Skills are instructions for kinds of tasks, with references and scripts, in the format of agentskills.io (SKILL.md). The agent
"files" reads a skill when a task needs it. Without arguments, lists the skills that you have approved, and those of this folder
(.agents/skills, .claude/skills) that you have not.

"add" copies a skill from a folder, or from a git repository (https://…, ssh://…, git@…). It shows everything that the skill
contains, or what has changed, and asks. Only what you approved is used: if the source changes, add it again.

  --trust      you trust its author; otherwise its text counts as untrusted content, and changes after it ask for approval
  --yes HASH   approve without a question if the skill has this hash, for scripts; with several skills, repeat it
`,
  none: "No skills yet. To add one, run: pawl skills add FOLDER\n",
  line: ({ name, description }: Pick<ShownSkill, "name" | "description">) => `${name}  ${description}`,
  origin: (origin: string, by: string, day: string) => `  from ${origin}, approved by ${by} on ${day}`,
  trusted: "  its author is trusted",
  newHere: (path: string) => `not approved: ${path}. To look at it, run: pawl skills add ${path}`,
  changedHere: (path: string) =>
    `changed: ${path}. The approved version is used. To see the change, run: pawl skills add ${path}`,
  unreadableHere: (path: string, problem: string) => `cannot be used: ${path}: ${problem}`,
  head: ({ name, description, hash }: ShownSkill) => `Skill ${name}: ${description}\nhash ${hash}\n`,
  tools: (tools: readonly string[]) => `It asks for these tools, which changes no permission: ${tools.join(", ")}\n`,
  file: (path: string, bytes: number, isExecutable: boolean) =>
    `  ${path}  ${bytesText(bytes)}${isExecutable ? ", a script" : ""}`,
  files: (count: number) => `It has ${plural(count, "file")}:`,
  binary: (path: string) => `${path} is not text and is not shown.`,
  changes: "Changes to the version that you approved:",
  unchanged: (name: string) => `${name} is the version that you have approved.\n`,
  question: "Use this skill? Type y or n: ",
  needsAnswer: (name: string, hash: string) =>
    `${name} was not added, because there is no terminal to ask in. To approve it, add: --yes ${hash}`,
  added: (name: string) => `${name} is added.\n`,
  notAdded: (name: string) => `${name} is not added.\n`,
  removed: (name: string) => `${name} is removed.\n`,
  unknown: (name: string) => `You have no skill "${name}". To list them, run: pawl skills`,
  noneThere: (from: string) => `${from} contains no skill: no folder with a file SKILL.md.`,
  chooseName: (from: string, names: readonly string[]) =>
    `${from} contains several skills. Name those to add: ${names.join(", ")}`,
  notThere: (from: string, name: string, names: readonly string[]) =>
    `${from} contains no skill "${name}", only: ${names.join(", ")}`,
  cannotClone: (from: string, reason: string) => `${from} cannot be cloned: ${reason}`,
  unknownAction: (action: string) => `There is no action "${action}", only add, show and remove.`,
  missingFrom: "Name a folder or a git repository.",
  missingName: "Name one skill.",
} as const
