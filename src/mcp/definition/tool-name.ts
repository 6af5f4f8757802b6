import { createHash } from "node:crypto"

const MAX_NAME = 64

/**
 * What the tools of a server are called here, by their names there: `server__tool`. No tool of ours has two underscores in its
 * name, so none of theirs passes for one. What the names of ours cannot hold becomes an underscore; where two would be the
 * same, or one is too long, a few letters tell them apart.
 */
export function toolNames(server: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const plain = tools.map((tool) => `${server}__${tool.toLowerCase().replaceAll(/[^a-z0-9_]/g, "_")}`)
  return new Map(
    tools.map((tool, at) => {
      const name = plain[at] as string
      const isAlone = plain.filter((other) => other === name).length === 1
      if (name.length <= MAX_NAME && (isAlone || name === `${server}__${tool}`)) return [tool, name]
      const mark = createHash("sha256").update(tool).digest("hex").slice(0, 6)
      return [tool, `${name.slice(0, MAX_NAME - mark.length - 1)}_${mark}`]
    }),
  )
}
