import { isFields, MAX_SCHEMA_DEPTH } from "./tool-facts.ts"

const HEADER = "x-mcp-header"
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
const SENDABLE = new Set<unknown>(["string", "integer", "boolean"])

/**
 * Whether what the schema of a tool says of arguments that go along as headers can be done. The library leaves out a tool of
 * which it cannot, and prints why, in the words of its server.
 */
export function declaresHeaders(schema: unknown): boolean {
  const names = new Set<string>()
  const fits = (node: unknown, at: { readonly depth: number; readonly isProperty: boolean }): boolean => {
    const depth = at.depth + 1
    if (depth > MAX_SCHEMA_DEPTH) return false
    if (Array.isArray(node)) return node.every((each) => fits(each, { depth, isProperty: false }))
    if (!isFields(node)) return true
    const { properties, [HEADER]: header, ...others } = node
    if (header !== undefined) {
      const name = typeof header === "string" ? header.toLowerCase() : ""
      if (!at.isProperty || !SENDABLE.has(node.type) || !TOKEN.test(name) || names.has(name)) return false
      names.add(name)
    }
    const isReached = at.isProperty || depth === 1
    return (
      Object.values(properties ?? {}).every((each) => fits(each, { depth, isProperty: isReached })) &&
      Object.values(others).every((each) => fits(each, { depth, isProperty: false }))
    )
  }
  return fits(schema, { depth: 0, isProperty: false })
}
