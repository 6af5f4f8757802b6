import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dirname, "../../..")
const COMMENT =
  /\/\*\*((?:(?!\*\/)[^])*? \* @example\n(?:(?!\*\/)[^])*)\*\/\nexport (?:async )?(?:function|const) (\w+)/g

/** An example in the comment of an exported function. */
export interface CommentExample {
  readonly name: string
  readonly code: string
  /** The output, from the comments behind the lines of the code. */
  readonly output: string
}

/** The examples in the comments of the sources. */
export const commentExamples: readonly CommentExample[] = globSync("{core,client,apps}/**/*.ts", { cwd: root }).flatMap(
  (path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(COMMENT)].map(([, comment = "", name = ""]) => {
      const code = comment.slice(comment.indexOf("@example\n") + "@example\n".length).replaceAll(/^ \* ?/gm, "")
      const output = [...code.matchAll(/console\.log\(.*\) \/\/ (.*)$/gm)].map(([, line]) => line)
      return { name, code: code.trimEnd(), output: output.join("\n") }
    }),
)

/** The example as a module: with imports of the names that it uses. `from`: the specifiers, each with its exports. */
export function toModule({ code }: CommentExample, from: Readonly<Record<string, readonly string[]>>): string {
  const isUsed = (name: string) => new RegExp(`\\b${name}\\(`).test(code)
  const imports = Object.entries({ ...from, zod: code.includes("z.") ? ["z"] : [] }).flatMap(([specifier, names]) => {
    const used = specifier === "zod" ? names : names.filter(isUsed)
    return used.length > 0 ? [`import { ${used.join(", ")} } from "${specifier}"`] : []
  })
  return `${imports.join("\n")}\n${code}\nexport {}\n`
}
