import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { isLong, oneIn } from "../support/sizes.ts"

const root = join(import.meta.dirname, "../..")

/**
 * One workload by the seed, all in the long run except W8. W0, which checks what survives a kill, is one of them:
 * `test/recovery` tests that in each run; this file tests the benchmark, not Pawl.
 */
const workloads = oneIn(14, ["w0", "w1", "w2", "w3", "w4", "w5", "w6", "w7", "w9", "w10", "w11", "w12", "w13", "w14"])

/** Checks that workloads run and leave the right transcripts, never their times. */
test(`the benchmark runs (${workloads.join()}), and everything it stores matches what was sent`, async () => {
  const out = await mkdtemp(join(tmpdir(), "pawl-bench-test-"))
  const words = ["bench/run.ts", "--quick", "--out", out, ...(isLong ? [] : ["--workload", workloads.join()])]
  const { stdout } = await promisify(execFile)(process.execPath, words, { cwd: root })
  for (const workload of workloads) expect(stdout).toContain(workload.toUpperCase())
  expect(stdout).not.toContain("FAILED")
  await rm(out, { recursive: true, force: true })
}, 300_000)
