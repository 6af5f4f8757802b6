import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { expect, test } from "vitest"
import { isLong } from "../../support/sizes.ts"

const root = join(import.meta.dirname, "..", "..", "..")

// It starts Pawl five times, at the pace of a person who types.
test.runIf(isLong)(
  "scripts/record.ts records both crashes with the Pawl of this checkout",
  async () => {
    const folder = await mkdtemp(join(tmpdir(), "pawl-recording-test-"))
    const file = join(folder, "recording.svg")
    await promisify(execFile)(process.execPath, ["scripts/record.ts", file], { cwd: root })
    const text = (await readFile(file, "utf8")).replaceAll(/<style>[^]*?<\/style>|<[^>]*>/g, "\n")
    for (const shown of [
      "nothing was overwritten.",
      "Killed",
      "retry / done / abandon",
      "Version 1.4.0 was published.",
    ])
      expect(text).toContain(shown)
    await rm(folder, { recursive: true })
  },
  300_000,
)
