import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { createServerMetrics } from "../../../core/server/metrics/server-metrics.ts"

test("docs/reference/metrics.md lists each metric with its type", () => {
  const page = readFileSync(join(import.meta.dirname, "../../../docs/reference/metrics.md"), "utf8")
  const types = [
    ...createServerMetrics()
      .all.text()
      .matchAll(/^# TYPE (\S+) (\S+)$/gm),
  ].map(([, name, type]) => `${name} ${type}`)
  const listed = [...page.matchAll(/^\| `(pawl_\w+)` \| (\w+) \|/gm)].map(([, name, type]) => `${name} ${type}`)
  expect(listed.toSorted()).toEqual(types.toSorted())
})
