import { createClient } from "../../src/client/index.ts"
import { base } from "./base.ts"

/** The one way to the server, for calls and for everything that is live. */
export const client = createClient({ baseUrl: base })
