import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { inject } from "vitest"

/**
 * Replaces `core/shared/processes/thread.ts` in tests: child programs and threads start from the built package. The query makes
 * another address of the original, because Vitest resolves each address once, and would find this file.
 */
// @ts-expect-error the compiler does not know addresses with a query
export * from "../../../core/shared/processes/thread.ts?original"

export const siblingScript = (_address: string, name: string): URL =>
  pathToFileURL(join(inject("package"), "dist", `${name}.js`))
