import { expect, test } from "vitest"
import { always, says, scripted } from "../../core/testing.ts"
import { databases, type TestDatabase } from "../support/databases.ts"
import { sizes } from "../support/sizes.ts"
import { openServer, Peer } from "../support/server/socket.ts"
import { isOver } from "../support/server/stream.ts"
import { usedMemory } from "../support/worked.ts"

const MB = 1024 * 1024
const { conversations: CONVERSATIONS, turns: TURNS } = sizes.unread
const SLOW = 5
/** The largest size of a reply. */
const TEXT = "x".repeat(1_000_000)
const [sqlite] = databases as readonly [TestDatabase]

test(
  `readers of ${CONVERSATIONS * TURNS} MB that do not read cost the server a bounded buffer each, delay no other client, and miss nothing`,
  {
    timeout: 180_000,
  },
  async () => {
    const place = (await sqlite.create()).url
    const ids: string[] = []
    {
      await using writer = await openServer({ database: sqlite, url: place, model: scripted(always(says(TEXT))) })
      const ada = await writer.visitor("ada")
      for (let i = 0; i < CONVERSATIONS; i++) {
        const id = await ada.begin({ agent: "test" })
        for (let turn = 0; turn < TURNS; turn++) expect((await ada.say(id, "go")).status).toBe(200)
        ids.push(id)
      }
    }
    // Another process's memory holds nothing of it yet.
    await using server = await openServer({ database: sqlite, url: place, model: scripted(always(says("More."))) })
    const ada = await server.visitor("ada")
    const headers = { authorization: `Bearer ${await server.tokenFor("ada")}` }
    const before = usedMemory()
    const slow = await Promise.all(Array.from({ length: SLOW }, () => Peer.open(server.url, headers)))
    for (const peer of slow) {
      peer.socket.pause()
      for (const conversationId of ids) peer.send({ type: "attach", conversationId })
    }
    // Another client watches and talks without a delay.
    using quick = await Peer.open(server.url, headers)
    const fresh = await ada.begin({ agent: "test" })
    quick.send({ type: "attach", conversationId: fresh })
    for (let turn = 1; turn <= 20; turn++) {
      await ada.say(fresh, "go")
      await quick.until(() => quick.events(fresh).filter(({ type }) => type === "done").length === turn)
    }
    const most = usedMemory() - before
    expect(most, `${Math.round(most / MB)} MB for ${SLOW} readers of ${CONVERSATIONS * TURNS} MB`).toBeLessThan(30 * MB)

    const [late] = slow as [Peer]
    late.socket.resume()
    const isWhole = (id: string) => late.events(id).filter(({ type }) => type === "done").length === TURNS
    await late.until(() => ids.every(isWhole))
    for (const id of ids) {
      const shown = late
        .events(id)
        .reduce((sum, { type, data }) => sum + (type === "text_delta" ? data.text.length : 0), 0)
      expect([shown, isOver(late.events(id))]).toEqual([TURNS * TEXT.length, true])
      const positions = late.events(id).flatMap(({ type, id }) => (type === "message" ? [Number(id)] : []))
      expect(new Set(positions).size).toBe(2 * TURNS)
    }
    for (const peer of slow) peer.socket.terminate()
  },
)
