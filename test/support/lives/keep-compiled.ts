import { flushCompileCache } from "node:module"

// A process writes its compile cache when it ends, but these processes are killed. Import this module last: it flushes
// what has been compiled so far.
flushCompileCache()
