import { expect, test } from "vitest"
import type { Line } from "../line.ts"
import { type CommandContext, runSlashCommand } from "./slash-commands.ts"

test("/storage prints the used storage, its limit and what uses it", async () => {
  const printed: string[] = []
  const answer = { bytes: 1536 * 1024, limitBytes: 2 ** 31, kinds: [{ kind: "queryResults", bytes: 1536 * 1024 }] }
  const session = {
    client: { readStorage: async () => answer },
    columns: 80,
    print: (...lines: Line[]) => void printed.push(...lines.map((line) => line.map(({ text }) => text).join(""))),
  }
  await runSlashCommand("/storage", { session } as unknown as CommandContext)
  expect(printed[1]).toBe("Storage: 1.5 MB of 2 GB used")
  expect(printed[2]).toMatch(/^\s*Query results\s+1\.5 MB$/)
})
