import type { Log } from "./ports.ts"

/** For programs that have nowhere to tell what happens. */
export const silentLog: Log = { info() {}, warn() {}, error() {} }
