import { createHash } from "node:crypto"
import { join } from "node:path"
import { describe, expect, test } from "vitest"
import type { FileId, UserId } from "../../core/protocol/ids.ts"
import { openStore } from "../../core/store/store.ts"
import { anyDatabase } from "../support/databases.ts"
import { TurnedClock } from "../support/loop/world.ts"
import { bytesOf, namesIn, newFolder } from "../support/message-files/files-world.ts"
import { PawlProcess } from "../support/processes/pawl-process.ts"

const script = join(import.meta.dirname, "./upload-forever.ts")
const DAY = 24 * 60 * 60_000

describe.each(anyDatabase)("on $name", ({ create }) => {
  test(
    "after kill -9 in the middle of uploads every acknowledged file is complete, and nothing else is left",
    { timeout: 120_000 },
    async () => {
      await using database = await create()
      const folder = newFolder()
      const kept = new Map<string, { user: UserId; sha256: string }>()
      for (const after of [1, 3]) {
        await using life = new PawlProcess([database.url, folder], {}, { script })
        await life.says(new RegExp(`(?:kept[^\\n]*\\n[^k]*){${after}}`))
        const { stdout } = await life.kill("SIGKILL")
        for (const [, user, id, sha256] of stdout.matchAll(/^kept (\S+) (\S+) (\S+)\n/gm))
          kept.set(id as string, { user: user as UserId, sha256: sha256 as string })
      }
      const clock = new TurnedClock()
      clock.shift(Date.now() - clock.now() + 2 * DAY)
      await using store = await openStore({ url: database.url, clock, filesFolder: folder })
      const [{ user } = { user: "" as UserId }] = [...kept.values()]
      const conversation = "conv_x" as never
      // A sweep would delete them too, because no message has named them for a day.
      const all = await store.engine.query<{ id: FileId }>("SELECT id FROM message_file WHERE hash IS NOT NULL", [])
      await store.engine.change({
        type: "statements",
        statements: [{ sql: "UPDATE message_file SET created_at = ? WHERE hash IS NOT NULL", values: [clock.now()] }],
      })
      await store.messageFiles.use(
        user,
        { conversation },
        all.map(({ id }) => id),
      )
      await store.messageFiles.sweep()
      expect(kept.size).toBeGreaterThanOrEqual(4)
      for (const [id, { sha256 }] of kept) {
        const bytes = await bytesOf(store.messageFiles, user, id as FileId)
        expect(createHash("sha256").update(bytes).digest("hex")).toBe(sha256)
      }
      const places = await store.engine.query<{ place: string }>("SELECT place FROM file_place ORDER BY place", [])
      expect(namesIn(folder)).toEqual(places.map(({ place }) => place))
      expect(places).toHaveLength(all.length)
    },
  )
})
