import { createSocketClient } from "../../src/client/index.ts"
import { base } from "./base.ts"
import { pageSecret } from "./page-secret.ts"

/** The one way to the server: requests for what is asked once, one socket for everything that is live. */
export const client = createSocketClient({ baseUrl: base, pageSecret })
