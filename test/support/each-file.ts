import fc from "fast-check"
import { afterAll, inject } from "vitest"
import { endFile } from "./end-of-file.ts"

// One number repeats a whole run. A property that fails prints it too, with the path to its example.
fc.configureGlobal({ seed: inject("seed") })

afterAll(endFile, 120_000)
