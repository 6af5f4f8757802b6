import { flushCompileCache } from "node:module"

// What a process has compiled it keeps for others when it ends, and these do not end, they are killed. To be imported:
// by then everything that is imported beside it has been compiled.
flushCompileCache()
