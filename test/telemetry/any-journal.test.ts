import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import type { JournalEvent } from "../../core/protocol/events.ts"
import { runsIn, spanFaultsIn } from "../support/telemetry/span-faults.ts"

const folder = new URL("../journals/", import.meta.url)

test.each(readdirSync(folder).filter((file) => file.endsWith(".jsonl")))(
  "the runs of %s are trees, and ended spans do not change",
  (file) => {
    const [, ...lines] = readFileSync(new URL(file, folder), "utf8").trim().split("\n")
    const events = lines.map((line) => JSON.parse(line) as JournalEvent)
    expect(runsIn(events).length).toBeGreaterThan(0)
    expect(spanFaultsIn(events)).toEqual([])
  },
)
