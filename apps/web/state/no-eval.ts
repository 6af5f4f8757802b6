import { config } from "zod"

/** Before any schema is made: zod would try whether it may compile code, and the page's policy reports the try. */
config({ jitless: true })
