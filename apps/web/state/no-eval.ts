import { config } from "zod"

/**
 * Must run before any schema is created: zod tests whether it may compile code, and the page's policy reports the
 * attempt.
 */
config({ jitless: true })
