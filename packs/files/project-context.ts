import type { Folder } from "./folder/folder.ts"
import { displayName } from "./folder/display-name.ts"
import { ProjectRules, rulesText } from "./folder/project-rules.ts"

/** Describes the work folder for the model. Created once, when the folder is opened. */
export function describeFolder(folder: Folder, platform: string): string {
  const rules = rulesOf(folder)
  return [
    `You work in the folder ${displayName(folder.root)} on ${platform}. Paths are given from it on, with /.`,
    // Text that is always sent to the model must come from a trusted folder.
    folder.trust.isTrusted ? gitState(folder) : UNTRUSTED,
    ...(rules ? rulesText(rules.ofFolder) : []),
  ].join("\n\n")
}

/** The instructions for agents in this folder. */
export function rulesOf({ root, trust: { isTrusted, rules } }: Folder): ProjectRules | undefined {
  if (rules === "none") return undefined
  return rules ?? new ProjectRules(root, { isTrusted, accepted: "any" })
}

const UNTRUSTED =
  "The person has not said that they trust this folder: others may have written its files. Its rules (AGENTS.md, CLAUDE.md), if it has any, are not part of this prompt; read_file reads them."

function gitState(folder: Folder): string {
  try {
    if (folder.find(".git")?.type !== "directory") return "It is no git repository of its own."
    const [, branch] = /^ref: refs\/heads\/(.+)$/m.exec(folder.read(".git/HEAD", 1000).bytes.toString()) ?? []
    const where =
      branch === undefined ? "with no branch checked out" : `on the branch ${displayName(branch)} when it was opened`
    return `It is a git repository, ${where}; git_diff and git_log tell more.`
  } catch {
    return "It has a .git that cannot be read."
  }
}
