import { z } from "zod"
import { scopes } from "../../protocol/account/sign-in.ts"
import type { OpenedPack } from "../pack.ts"
import { problemsOf, packRefused } from "./check-pack.ts"

const isSchema = (value: unknown): boolean => {
  try {
    // Also tells whether it can be printed: the reference of the whole server would break with one that cannot.
    return z.toJSONSchema(value as z.ZodType, { unrepresentable: "any" }) !== undefined
  } catch {
    return false
  }
}

const schema = z.custom<z.ZodType>(isSchema, "must be a schema of zod 4 that can be written as JSON Schema")
const method = <Kind>(what: string) => z.custom<Kind>((value) => typeof value === "function", what)

const Route = z.strictObject({
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]),
  path: z.string().regex(/^(?:\/(?:[a-z0-9-]+|\{[a-zA-Z]\w*\}))+$/, "a path such as /loans or /loans/{id}"),
  needs: z.enum(scopes).exclude(["self-approve"]),
  says: z.string().min(1).max(500),
  query: schema.optional(),
  body: schema.optional(),
  answer: schema.nullable(),
  handle: method("must be a function"),
})

const Agent = z.looseObject({
  name: z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/, "an agent's name: small letters, digits, - and _"),
  description: z.string().min(1),
  instructions: z.string(),
  tools: z.custom((value) => typeof (value as { visibleIn?: unknown } | null)?.visibleIn === "function", {
    error: "use defineAgent of pawl to make the agent",
  }),
})

const Shape = z.strictObject({
  agents: z.array(Agent).max(100),
  routes: z.record(z.string().regex(/^[a-z]\w{0,63}$/, "a route's name, such as listLoans"), Route).optional(),
  close: method("must be a function").optional(),
})

/** Takes what a pack has opened, or refuses it with everything that is wrong with it. */
export function checkOpened(named: string, opened: unknown): OpenedPack {
  const read = Shape.safeParse(opened)
  if (!read.success)
    throw packRefused(
      named,
      `what it opens is not right: ${problemsOf(read.error)}`,
      "docs/recipes/write-a-pack.md shows what open() gives back",
    )
  const addresses = Object.values(read.data.routes ?? {}).map(
    ({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, "{}")}`,
  )
  const twice = addresses.find((address, at) => addresses.indexOf(address) !== at)
  if (twice) throw packRefused(named, `two of its routes are ${twice}`, "give one of them another path")
  return opened as OpenedPack
}
