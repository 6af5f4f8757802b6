import { z } from "zod"
import { JsonObject } from "../schema.ts"
import { lazily } from "../lazily.ts"

/**
 * Tools of the program that somebody speaks through, which it runs itself. A model calls them like any other; the call waits
 * until the program brings its result.
 */

/** No tool of ours has a hyphen in its name, so none of theirs can be taken for one. */
const PREFIX = "client-"

export const ClientTool = lazily(() =>
  z.object({
    /** As its program calls it. */
    name: z.string().regex(/^[\w-]{1,57}$/),
    description: z.string().max(4000),
    inputSchema: JsonObject,
  }),
)
export type ClientTool = z.infer<typeof ClientTool>

/** The step of a run that says which there are. */
export const CLIENT_TOOLS = "client_tools"

/** What such a tool is called here. */
export const toClientName = (name: string): string => PREFIX + name

/** What its program calls a tool; undefined for one that is no program's. */
export const clientNameOf = (name: string): string | undefined =>
  name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined
