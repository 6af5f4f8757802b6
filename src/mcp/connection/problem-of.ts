import { withoutSecrets } from "../../agent/calls/without-secrets.ts"
import type { McpServer } from "../definition/server.ts"
import { plainWords } from "../definition/tool-facts.ts"

const MAX = 300

/** What went wrong with a server, in a part of a sentence without its secrets and without what it could hide in it. */
export function problemOf(error: unknown, { secrets }: Pick<McpServer, "secrets">): string {
  const words = [...causes(error)].join(": ")
  return withoutSecrets(plainWords(words).replaceAll(/\s+/g, " "), secrets).slice(0, MAX).replace(/\.$/, "")
}

/** A connection that failed says why in its cause; one that repeats its cause adds only how its library calls things. */
function* causes(error: unknown): Iterable<string> {
  for (let each = error, depth = 0; each instanceof Error && depth < 3; each = each.cause, depth++) {
    const { cause } = each
    const repeats = cause instanceof Error && cause.message !== "" && each.message.includes(cause.message)
    if (!repeats) yield each.message || ((each as NodeJS.ErrnoException).code ?? each.name)
  }
}
