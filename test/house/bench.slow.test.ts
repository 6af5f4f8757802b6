import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"

const root = join(import.meta.dirname, "../..")

/** Times are never judged in a test; that every workload still runs and leaves the right transcripts is. */
test("the benchmark runs through, and everything it stores is what was said", async () => {
  const out = await mkdtemp(join(tmpdir(), "pawl-bench-test-"))
  const { stdout } = await promisify(execFile)(process.execPath, ["bench/run.ts", "--quick", "--out", out], {
    cwd: root,
  })
  for (const workload of ["W0", "W1", "W2", "W3", "W4", "W5", "W6", "W7", "W9", "W10", "W11", "W12"])
    expect(stdout).toContain(workload)
  expect(stdout).not.toContain("FAILED")
  await rm(out, { recursive: true, force: true })
}, 300_000)
