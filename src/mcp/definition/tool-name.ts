import { createHash } from "node:crypto"

const MAX_NAME = 64

/**
 * What a tool of a server is called here: `server__tool`. No tool of ours has two underscores in its name, so none of theirs
 * passes for one. What the names of ours cannot hold becomes an underscore, with a few letters that tell such names apart.
 */
export function toolName(server: string, tool: string): string {
  const plain = tool.toLowerCase().replaceAll(/[^a-z0-9_]/g, "_")
  const whole = `${server}__${plain}`
  if (plain === tool && whole.length <= MAX_NAME) return whole
  const mark = createHash("sha256").update(tool).digest("hex").slice(0, 6)
  return `${whole.slice(0, MAX_NAME - mark.length - 1)}_${mark}`
}
