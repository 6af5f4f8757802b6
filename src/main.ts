/** What a program that embeds Pawl opens. */
export { openPawl, type Pawl, type PawlOptions } from "./compose/open-pawl.ts"
